public import PeripheralCore

extension Peripheral {
    /// Returns each advertisement as it is sent on an adapter, with the peripheral's name and services.
    ///
    /// ```swift
    /// for plan in peripheral.advertisingPlans(for: .extended("5.82")) { print(plan) }
    /// ```
    ///
    /// - Parameter capabilities: The adapter and the stack, such as `.legacy` or `.extended("5.66")`.
    /// - Returns: A plan for each advertisement, in the order of the declaration.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        resolvedAdvertisements.plans(for: capabilities)
    }

    /// The advertisements at the start of a run, with names and services filled in.
    var resolvedAdvertisements: [Advertisement] {
        initialAdvertisements.map(resolved)
    }

    /// The advertisements at the start of a run, as declared.
    var initialAdvertisements: [Advertisement] {
        isSilentAtFirst ? [] : declaredAdvertisements
    }

    /// The advertisements as declared; if there are none, one with default values.
    var declaredAdvertisements: [Advertisement] {
        advertisements.isEmpty ? [Advertisement()] : advertisements
    }

    /// Fills in the name and services that an advertisement does not specify.
    ///
    /// It adds the services that fit, in order, because a default advertisement must not fail.
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

extension Advertisement {
    /// Whether the advertisement fits on any adapter, or with a secondary channel on an extended one.
    fileprivate var fitsWhereverPossible: Bool {
        plan(for: secondaryChannel == nil ? .legacy : .extended).isPossible
    }
}

extension Publication {
    /// Returns each advertisement as it is sent on an adapter.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        advertisements.plans(for: capabilities)
    }
}

extension [Advertisement] {
    /// Returns each advertisement as it is sent on an adapter.
    package func plans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        indices.map { self[$0].plan(for: capabilities, named: name(at: $0)) }
    }

    /// The name of an advertisement in issues, with its number if there are several.
    package func name(at index: Int) -> String {
        count == 1 ? "advertisement" : "advertisement \(index + 1)"
    }
}
