/// One piece of what is advertised: a type, and the bytes to which it gives a meaning.
///
/// The format is that of Core Specification Vol 3, Part C, 11.
public struct AdvertisingStructure: Hashable, Sendable {
    /// How many bytes a structure can hold besides its length and its type.
    public static let maximumDataCount = 254

    /// What the bytes mean.
    public let type: DataType
    /// The bytes behind the type.
    public let data: [UInt8]

    /// Creates a structure; `nil` when there are more bytes than ``maximumDataCount``.
    public init?(_ type: DataType, _ data: [UInt8]) {
        guard data.count <= Self.maximumDataCount else {
            return nil
        }
        self.type = type
        self.data = data
    }

    /// How many bytes the structure takes on the air: its length, its type, and its data.
    public var byteCount: Int {
        2 + data.count
    }
}
