public import PeripheralCore

extension Peripheral {
    /// Tells what becomes of each advertisement on an adapter, with what the declaration leaves open filled in.
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

    /// What is advertised at first, with what that leaves open filled in from the declaration.
    var resolvedAdvertisements: [Advertisement] {
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

extension Advertisement {
    /// Whether what belongs to the declaration fits: on any adapter, or with a secondary channel on those that have it.
    fileprivate var fitsWhereverPossible: Bool {
        plan(for: secondaryChannel == nil ? .legacy : .extended).isPossible
    }
}

extension Publication {
    /// Tells what becomes of each advertisement on an adapter.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        advertisements.plans(for: capabilities)
    }
}

extension [Advertisement] {
    /// Tells what becomes of each on an adapter.
    package func plans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        indices.map { self[$0].plan(for: capabilities, named: name(at: $0)) }
    }

    /// What issues call the advertisement at an index: by its number, where there are several.
    package func name(at index: Int) -> String {
        count == 1 ? "advertisement" : "advertisement \(index + 1)"
    }
}
