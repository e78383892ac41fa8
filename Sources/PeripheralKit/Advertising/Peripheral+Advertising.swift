internal import PeripheralCore

extension Peripheral {
    /// The advertisements at the start of a run, with names and services filled in.
    package var resolvedAdvertisements: [Advertisement] {
        initialAdvertisements.map(resolved)
    }

    /// The advertisements at the start of a run, as declared.
    var initialAdvertisements: [Advertisement] {
        isSilentAtFirst ? [] : declaredAdvertisements
    }

    /// The declared advertisements.
    ///
    /// If no advertisement is declared, the array contains one advertisement with default values.
    var declaredAdvertisements: [Advertisement] {
        advertisements.isEmpty ? [Advertisement()] : advertisements
    }

    /// Fills in the name and services that an advertisement does not specify.
    ///
    /// The function adds only the services that fit, in order, because a default advertisement must not fail.
    func resolved(_ declared: Advertisement) -> Advertisement {
        var advertisement = declared
        if advertisement.localName == nil, !advertisement.includes.contains(.localName) {
            advertisement.localName = name
        }
        guard advertisement.services == nil else { return advertisement }
        advertisement.services = []
        var advertised: Set<BluetoothUUID> = []
        for service in services where service.isPrimary && advertised.insert(service.uuid).inserted {
            var larger = advertisement
            larger.services?.append(service.uuid)
            if larger.fitsWhereverPossible { advertisement = larger }
        }
        return advertisement
    }
}

extension [Advertisement] {
    /// The name of an advertisement in issues, with a number if there are several advertisements.
    package func name(at index: Int) -> String {
        count == 1 ? "advertisement" : "advertisement \(index + 1)"
    }
}
