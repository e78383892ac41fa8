/// One piece of advertising data: a type, and bytes that it gives a meaning.
///
/// See Core Specification, Vol 3, Part C, 11, and Assigned Numbers, 2.3.
public struct AdvertisingStructure: Hashable, Sendable {
    /// What the bytes mean.
    public struct DataType: RawRepresentable, Hashable, Sendable {
        /// The number on the air.
        public let rawValue: UInt8

        /// Makes a type from its number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Flags.
        public static let flags = DataType(rawValue: 0x01)
        /// Some of the 16-bit service UUIDs.
        public static let incompleteServices16 = DataType(rawValue: 0x02)
        /// All 16-bit service UUIDs.
        public static let services16 = DataType(rawValue: 0x03)
        /// Some of the 32-bit service UUIDs.
        public static let incompleteServices32 = DataType(rawValue: 0x04)
        /// All 32-bit service UUIDs.
        public static let services32 = DataType(rawValue: 0x05)
        /// Some of the 128-bit service UUIDs.
        public static let incompleteServices128 = DataType(rawValue: 0x06)
        /// All 128-bit service UUIDs.
        public static let services128 = DataType(rawValue: 0x07)
        /// The beginning of the name.
        public static let shortenedLocalName = DataType(rawValue: 0x08)
        /// The whole name.
        public static let completeLocalName = DataType(rawValue: 0x09)
        /// The transmit power.
        public static let txPowerLevel = DataType(rawValue: 0x0A)
        /// Data of a service with a 16-bit UUID.
        public static let serviceData16 = DataType(rawValue: 0x16)
        /// The appearance.
        public static let appearance = DataType(rawValue: 0x19)
        /// Data of a service with a 32-bit UUID.
        public static let serviceData32 = DataType(rawValue: 0x20)
        /// Data of a service with a 128-bit UUID.
        public static let serviceData128 = DataType(rawValue: 0x21)
        /// The manufacturer's own data.
        public static let manufacturerData = DataType(rawValue: 0xFF)
    }

    /// What the bytes mean.
    public var type: DataType

    /// The bytes without length and type.
    public var data: [UInt8]

    /// Makes a structure.
    public init(_ type: DataType, _ data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// How many bytes it takes on the air, with its length and its type.
    public var encodedCount: Int { data.count + 2 }

    /// The structures on the air, one after the other.
    public static func encode(_ structures: [AdvertisingStructure]) -> [UInt8] {
        structures.flatMap { [UInt8(truncatingIfNeeded: $0.data.count + 1), $0.type.rawValue] + $0.data }
    }

    /// Takes received advertising data apart.
    ///
    /// What comes from the air may be anything: a length of 0 ends the data early, as the specification has it,
    /// and so does a structure that is longer than what is left.
    public static func decode(_ bytes: [UInt8]) -> [AdvertisingStructure] {
        var structures: [AdvertisingStructure] = []
        var rest = bytes[...]
        while let length = rest.popFirst(), length > 0, rest.count >= Int(length) {
            let content = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let type = DataType(rawValue: content[content.startIndex])
            structures.append(AdvertisingStructure(type, Array(content.dropFirst())))
        }
        return structures
    }
}
