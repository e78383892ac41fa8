internal import PeripheralCore
public import PeripheralKit

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
}

extension Publication {
    /// Shows what becomes of each advertisement on an adapter.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        advertisements.plans(for: capabilities)
    }
}

extension [Advertisement] {
    /// Shows what becomes of each advertisement on an adapter.
    package func plans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        indices.map { self[$0].plan(for: capabilities, named: name(at: $0)) }
    }
}
