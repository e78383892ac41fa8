/// The maximum size of the chunks of a transfer.
public struct ChunkSize: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The size in bytes; `nil` for the maximum.
    let bytes: Int?

    /// The largest chunk size that fits into one update to the central.
    ///
    /// The chunk size is the ``Central/maximumUpdateValueLength`` of the central, from 20 to 512 bytes.
    public static let maximum = ChunkSize(bytes: nil)

    private init(bytes: Int?) {
        self.bytes = bytes
    }

    /// Creates a maximum chunk size in bytes, which must be 1 or more.
    ///
    /// If a central cannot receive this number of bytes in one update, the chunks for that central are
    /// smaller.
    public init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// Creates a maximum chunk size in bytes, which must be 1 or more.
    public init(integerLiteral bytes: Int) {
        self.init(bytes)
    }
}

/// A value that marks the end of a document.
///
/// A document can contain the bytes of the end marker. If a chunk would be equal to the end marker, the
/// session shortens that chunk by one byte.
public struct EndMarker: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The bytes of the end marker.
    ///
    /// An end marker has 2 to 20 bytes, so that every central can receive the marker in one update.
    public let bytes: [UInt8]

    /// Creates an end marker of 2 to 20 bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates an end marker from the UTF-8 bytes of a text.
    public init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    /// Creates an end marker from bytes.
    public init(arrayLiteral bytes: UInt8...) {
        self.init(bytes)
    }
}
