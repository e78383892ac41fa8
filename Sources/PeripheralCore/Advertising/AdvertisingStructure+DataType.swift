extension AdvertisingStructure {
    /// The kind of an advertising structure (Assigned Numbers, 2.3, *Common Data Types*).
    public struct DataType: RawRepresentable, Hashable, Sendable {
        /// The number that stands for the kind.
        public let rawValue: UInt8

        /// Creates a kind of its number, also of one that has no name here.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Flags: whether the device is discoverable, and by which radio.
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
        /// The beginning of the device's name.
        public static let shortenedLocalName = DataType(rawValue: 0x08)
        /// The device's name.
        public static let completeLocalName = DataType(rawValue: 0x09)
        /// The power at which the structure is sent.
        public static let txPowerLevel = DataType(rawValue: 0x0A)
        /// The 16-bit UUIDs of services that are looked for.
        public static let solicitedServices16 = DataType(rawValue: 0x14)
        /// The 128-bit UUIDs of services that are looked for.
        public static let solicitedServices128 = DataType(rawValue: 0x15)
        /// Data of a service with a 16-bit UUID.
        public static let serviceData16 = DataType(rawValue: 0x16)
        /// What the device looks like.
        public static let appearance = DataType(rawValue: 0x19)
        /// The 32-bit UUIDs of services that are looked for.
        public static let solicitedServices32 = DataType(rawValue: 0x1F)
        /// Data of a service with a 32-bit UUID.
        public static let serviceData32 = DataType(rawValue: 0x20)
        /// Data of a service with a 128-bit UUID.
        public static let serviceData128 = DataType(rawValue: 0x21)
        /// The identifier of a coordinated set of devices.
        public static let resolvableSetIdentifier = DataType(rawValue: 0x2E)
        /// Data in a format of the manufacturer's own.
        public static let manufacturerData = DataType(rawValue: 0xFF)
    }
}

extension AdvertisingStructure.DataType: ExpressibleByIntegerLiteral {
    /// Creates a kind of its number, as in `0x26`.
    public init(integerLiteral number: UInt8) {
        self.init(rawValue: number)
    }
}

extension AdvertisingStructure.DataType: Comparable {
    /// Orders kinds by their numbers.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AdvertisingStructure.DataType: CustomStringConvertible {
    /// The number: `0x26`.
    public var description: String { "0x\(rawValue.hexadecimalDigits(count: 2))" }
}
