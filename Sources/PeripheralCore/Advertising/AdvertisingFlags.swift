/// The discoverable mode and the supported radio types of a device.
///
/// Core Specification Supplement, Part A, section 1.3, defines the flags.
///
/// The radio types are LE and BR/EDR.
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    /// The flags as the byte that the device transmits.
    public let rawValue: UInt8

    /// Creates flags from the transmitted byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The device is in limited discoverable mode, which lasts for only a short time.
    public static let limitedDiscoverable = AdvertisingFlags(rawValue: 0x01)
    /// The device is in general discoverable mode, which has no time limit.
    public static let generalDiscoverable = AdvertisingFlags(rawValue: 0x02)
    /// The device uses only LE, because BR/EDR is either off or not supported.
    public static let classicNotSupported = AdvertisingFlags(rawValue: 0x04)
    /// The controller supports LE and BR/EDR links to the same device at the same time.
    public static let simultaneousController = AdvertisingFlags(rawValue: 0x08)
}
