/// One element of advertising data: a type and its bytes.
///
/// The format is defined in Core Specification Vol 3, Part C, 11.
public struct AdvertisingStructure: Hashable, Sendable {
    /// The maximum number of bytes after the length and the type of a structure.
    public static let maximumDataCount = 254

    /// The type, which defines the meaning of the bytes.
    public let type: DataType
    /// The bytes after the type.
    public let data: [UInt8]

    /// Creates a structure, or returns `nil` if there are more than ``maximumDataCount`` bytes.
    public init?(_ type: DataType, _ data: [UInt8]) {
        guard data.count <= Self.maximumDataCount else {
            return nil
        }
        self.type = type
        self.data = data
    }

    /// The number of bytes on the air: the length, the type, and the data.
    public var byteCount: Int {
        2 + data.count
    }
}
