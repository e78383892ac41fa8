/// Whether a device is discoverable, and by which radio (Core Specification Supplement, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    /// The byte on the air.
    public let rawValue: UInt8

    /// Creates a set of its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Discoverable for a short time.
    public static let limitedDiscoverable = AdvertisingFlags(rawValue: 0x01)
    /// Discoverable.
    public static let generalDiscoverable = AdvertisingFlags(rawValue: 0x02)
    /// LE only: the device has no BR/EDR, or has it switched off.
    public static let classicNotSupported = AdvertisingFlags(rawValue: 0x04)
    /// The controller can use LE and BR/EDR to the same device at once.
    public static let simultaneousController = AdvertisingFlags(rawValue: 0x08)
}
