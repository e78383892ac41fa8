internal import PeripheralCore

extension Peripheral {
    /// What is advertised at first, with what that leaves open filled in from the declaration.
    package var resolvedAdvertisements: [Advertisement] {
        initialAdvertisements.map(resolved)
    }

    /// What is advertised at first, as it is declared.
    var initialAdvertisements: [Advertisement] {
        isSilentAtFirst ? [] : declaredAdvertisements
    }

    /// The advertisements as they are declared; without any, there is one that leaves everything open.
    var declaredAdvertisements: [Advertisement] {
        advertisements.isEmpty ? [Advertisement()] : advertisements
    }

    /// Fills in what an advertisement leaves open.
    ///
    /// Of the services, those come in that fit, in their order: an advertisement that nobody wrote must not be
    /// able to fail.
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
    /// What issues call the advertisement at an index: by its number, where there are several.
    package func name(at index: Int) -> String {
        count == 1 ? "advertisement" : "advertisement \(index + 1)"
    }
}
