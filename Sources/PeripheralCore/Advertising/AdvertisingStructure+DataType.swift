extension AdvertisingStructure {
    /// The type of an advertising structure (Assigned Numbers, 2.3, *Common Data Types*).
    public struct DataType: RawRepresentable, Hashable, Sendable {
        /// The number of the type.
        public let rawValue: UInt8

        /// Creates a type from any number.
        ///
        /// This type does not need to declare a constant for the number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Flags: the discoverability and the radio types of the device.
        public static let flags = DataType(rawValue: 0x01)
        /// Some of the 16-bit service UUIDs.
        public static let incompleteServices16 = DataType(rawValue: 0x02)
        /// All of the 16-bit service UUIDs.
        public static let services16 = DataType(rawValue: 0x03)
        /// Some of the 32-bit service UUIDs.
        public static let incompleteServices32 = DataType(rawValue: 0x04)
        /// All of the 32-bit service UUIDs.
        public static let services32 = DataType(rawValue: 0x05)
        /// Some of the 128-bit service UUIDs.
        public static let incompleteServices128 = DataType(rawValue: 0x06)
        /// All of the 128-bit service UUIDs.
        public static let services128 = DataType(rawValue: 0x07)
        /// A shortened form of the device's name.
        public static let shortenedLocalName = DataType(rawValue: 0x08)
        /// The complete name of the device.
        public static let completeLocalName = DataType(rawValue: 0x09)
        /// The transmit power.
        public static let txPowerLevel = DataType(rawValue: 0x0A)
        /// The 16-bit UUIDs of solicited services.
        public static let solicitedServices16 = DataType(rawValue: 0x14)
        /// The 128-bit UUIDs of solicited services.
        public static let solicitedServices128 = DataType(rawValue: 0x15)
        /// Data of a service with a 16-bit UUID.
        public static let serviceData16 = DataType(rawValue: 0x16)
        /// The appearance of the device.
        public static let appearance = DataType(rawValue: 0x19)
        /// The 32-bit UUIDs of solicited services.
        public static let solicitedServices32 = DataType(rawValue: 0x1F)
        /// Data of a service with a 32-bit UUID.
        public static let serviceData32 = DataType(rawValue: 0x20)
        /// Data of a service with a 128-bit UUID.
        public static let serviceData128 = DataType(rawValue: 0x21)
        /// The identifier of a coordinated set of devices.
        public static let resolvableSetIdentifier = DataType(rawValue: 0x2E)
        /// Manufacturer-specific data.
        public static let manufacturerData = DataType(rawValue: 0xFF)
    }
}

extension AdvertisingStructure.DataType: ExpressibleByIntegerLiteral {
    /// Creates a type from its number, such as `0x26`.
    public init(integerLiteral number: UInt8) {
        self.init(rawValue: number)
    }
}

extension AdvertisingStructure.DataType: Comparable {
    /// Orders types by their numbers.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AdvertisingStructure.DataType: CustomStringConvertible {
    /// The number in hexadecimal, such as `0x26`.
    public var description: String { "0x\(rawValue.hexadecimalDigits(count: 2))" }
}
