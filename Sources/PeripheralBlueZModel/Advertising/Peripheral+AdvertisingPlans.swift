internal import PeripheralCore
public import PeripheralKit

extension Peripheral {
    /// Returns the plans of all advertisements for an adapter.
    ///
    /// The plans include the name and the services of the peripheral.
    ///
    /// ```swift
    /// for plan in peripheral.advertisingPlans(for: .extended("5.82")) { print(plan) }
    /// ```
    ///
    /// - Parameter capabilities: The capabilities of the adapter and the Bluetooth stack, such as `.legacy`
    ///   or `.extended("5.66")`.
    /// - Returns: A plan for each advertisement, in the order of the peripheral's declaration.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        resolvedAdvertisements.plans(for: capabilities)
    }
}

extension BackendPublication {
    /// Returns the plans of all advertisements for an adapter.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        advertisements.plans(for: capabilities)
    }
}

extension [Advertisement] {
    /// Returns the plans of all advertisements for an adapter.
    package func plans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        indices.map { self[$0].plan(for: capabilities, named: name(at: $0)) }
    }
}
