extension AdvertisingStructure {
    /// The type of an advertising structure (Assigned Numbers, 2.3, *Common Data Types*).
    public struct DataType: RawRepresentable, Hashable, Sendable {
        /// The assigned number of the type.
        public let rawValue: UInt8

        /// Creates the structure type with the given number.
        ///
        /// Any number is valid, even if `DataType` declares no constant for the number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The flags: the discoverable mode and the supported radio types of the device.
        public static let flags = DataType(rawValue: 0x01)
        /// An incomplete list of the device's 16-bit service UUIDs.
        public static let incompleteServices16 = DataType(rawValue: 0x02)
        /// The complete list of the device's 16-bit service UUIDs.
        public static let services16 = DataType(rawValue: 0x03)
        /// An incomplete list of the device's 32-bit service UUIDs.
        public static let incompleteServices32 = DataType(rawValue: 0x04)
        /// The complete list of the device's 32-bit service UUIDs.
        public static let services32 = DataType(rawValue: 0x05)
        /// An incomplete list of the device's 128-bit service UUIDs.
        public static let incompleteServices128 = DataType(rawValue: 0x06)
        /// The complete list of the device's 128-bit service UUIDs.
        public static let services128 = DataType(rawValue: 0x07)
        /// A shortened form of the device's name.
        public static let shortenedLocalName = DataType(rawValue: 0x08)
        /// The complete name of the device.
        public static let completeLocalName = DataType(rawValue: 0x09)
        /// The transmit power.
        public static let txPowerLevel = DataType(rawValue: 0x0A)
        /// The list of 16-bit UUIDs of solicited services.
        public static let solicitedServices16 = DataType(rawValue: 0x14)
        /// The list of 128-bit UUIDs of solicited services.
        public static let solicitedServices128 = DataType(rawValue: 0x15)
        /// The service data for a 16-bit service UUID.
        public static let serviceData16 = DataType(rawValue: 0x16)
        /// The appearance of the device.
        public static let appearance = DataType(rawValue: 0x19)
        /// The list of 32-bit UUIDs of solicited services.
        public static let solicitedServices32 = DataType(rawValue: 0x1F)
        /// The service data for a 32-bit service UUID.
        public static let serviceData32 = DataType(rawValue: 0x20)
        /// The service data for a 128-bit service UUID.
        public static let serviceData128 = DataType(rawValue: 0x21)
        /// The resolvable set identifier of a coordinated set of devices.
        public static let resolvableSetIdentifier = DataType(rawValue: 0x2E)
        /// Manufacturer-specific data.
        public static let manufacturerData = DataType(rawValue: 0xFF)
    }
}

extension AdvertisingStructure.DataType: ExpressibleByIntegerLiteral {
    /// Creates a type from an integer literal, such as `0x26`.
    public init(integerLiteral number: UInt8) {
        self.init(rawValue: number)
    }
}

extension AdvertisingStructure.DataType: Comparable {
    /// Orders types by their assigned numbers.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AdvertisingStructure.DataType: CustomStringConvertible {
    /// The number of the type in hexadecimal, such as `0x26`.
    public var description: String { "0x\(rawValue.hexadecimalDigits(count: 2))" }
}
