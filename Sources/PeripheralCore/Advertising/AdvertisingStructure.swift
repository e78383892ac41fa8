/// One element of advertising data, which consists of a type and data bytes.
///
/// The format of advertising structures is defined in Core Specification Vol 3, Part C, section 11.
public struct AdvertisingStructure: Hashable, Sendable {
    /// The maximum number of data bytes in a structure.
    ///
    /// The number excludes the length byte and the type byte.
    public static let maximumDataCount = 254

    /// The type, which defines the meaning of the data bytes.
    public let type: DataType
    /// The data bytes, which follow the type byte.
    public let data: [UInt8]

    /// Creates a structure, or returns `nil` if the data has more than ``maximumDataCount`` bytes.
    public init?(_ type: DataType, _ data: [UInt8]) {
        guard data.count <= Self.maximumDataCount else {
            return nil
        }
        self.type = type
        self.data = data
    }

    /// The number of transmitted bytes.
    ///
    /// The number includes the length byte, the type byte and the data bytes.
    public var byteCount: Int {
        2 + data.count
    }
}
