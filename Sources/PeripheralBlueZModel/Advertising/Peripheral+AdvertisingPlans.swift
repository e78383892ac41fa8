internal import PeripheralCore
public import PeripheralKit

extension Peripheral {
    /// Returns a plan for each advertisement on an adapter with the given capabilities.
    ///
    /// The plans include the name and the services of the peripheral.
    ///
    /// ```swift
    /// for plan in peripheral.advertisingPlans(for: .extended("5.82")) { print(plan) }
    /// ```
    ///
    /// - Parameter capabilities: The capabilities of the adapter and the Bluetooth stack, such as `.legacy`
    ///   or `.extended("5.66")`.
    /// - Returns: The plans, in the order in which the peripheral declares the advertisements.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        resolvedAdvertisements.plans(for: capabilities)
    }
}

extension BackendPublication {
    /// Returns a plan for each advertisement on an adapter with the given capabilities.
    public func advertisingPlans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        advertisements.plans(for: capabilities)
    }
}

extension [Advertisement] {
    /// Returns a plan for each advertisement on an adapter with the given capabilities.
    package func plans(for capabilities: AdvertisingCapabilities) -> [AdvertisingPlan] {
        indices.map { self[$0].plan(for: capabilities, named: name(at: $0)) }
    }
}
