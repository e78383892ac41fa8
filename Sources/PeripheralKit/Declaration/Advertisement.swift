public import PeripheralCore

/// What a peripheral tells everybody around, so that centrals find it.
///
/// A peripheral without one advertises its name, and as many of its primary services as fit.
///
/// ```swift
/// Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]])
/// ```
///
/// There is room for 31 bytes, 3 of which are flags; the name has 31 bytes of its own, in the scan response.
/// See Core Specification, Vol 3, Part C, 11, and the Core Specification Supplement, Part A.
public struct Advertisement: Hashable, Sendable {
    /// The name, or `nil` for that of the peripheral.
    public var localName: String?

    /// The services by which centrals find the peripheral, or `nil` for the primary ones of the declaration that fit.
    public var services: [BluetoothUUID]?

    /// The manufacturer's own data, by company identifier (Assigned Numbers, 7.1).
    public var manufacturerData: [UInt16: [UInt8]]

    /// Data that belongs to a service.
    public var serviceData: [BluetoothUUID: [UInt8]]

    /// What the device looks like (Assigned Numbers, 2.6), such as 0x0340 for a heart rate sensor.
    public var appearance: UInt16?

    /// Whether phones show the peripheral when they search for new devices.
    public var isDiscoverable: Bool

    /// Declares an advertisement.
    ///
    /// - Parameters:
    ///   - localName: The name, or `nil` for that of the peripheral.
    ///   - services: The services by which centrals find the peripheral, or `nil` for the primary ones of the
    ///     declaration that fit, in their order.
    ///   - manufacturerData: The manufacturer's own data, by company identifier.
    ///   - serviceData: Data that belongs to a service.
    ///   - appearance: What the device looks like.
    ///   - isDiscoverable: Whether phones show the peripheral when they search for new devices.
    public init(
        localName: String? = nil,
        services: [BluetoothUUID]? = nil,
        manufacturerData: [UInt16: [UInt8]] = [:],
        serviceData: [BluetoothUUID: [UInt8]] = [:],
        appearance: UInt16? = nil,
        isDiscoverable: Bool = true
    ) {
        self.localName = localName
        self.services = services
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        self.appearance = appearance
        self.isDiscoverable = isDiscoverable
    }
}

extension Advertisement {
    /// The same as values that can be encoded; what is left open is left out.
    package var payload: AdvertisementPayload {
        AdvertisementPayload(
            flags: isDiscoverable ? [.generalDiscoverable, .classicNotSupported] : .classicNotSupported,
            localName: localName,
            services: services ?? [],
            manufacturerData: manufacturerData,
            serviceData: serviceData,
            appearance: appearance
        )
    }
}
