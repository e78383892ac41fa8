/// The maximum size of the chunks of a transfer.
public struct ChunkSize: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The size in bytes; `nil` for the maximum.
    let bytes: Int?

    /// The maximum size of an update to the central.
    ///
    /// The size is the ``Central/maximumUpdateValueLength`` of the central, from 20 to 512 bytes.
    public static let maximum = ChunkSize(bytes: nil)

    private init(bytes: Int?) {
        self.bytes = bytes
    }

    /// Creates a size of at most this many bytes, 1 or more.
    ///
    /// Chunks are smaller for a central that cannot receive this many bytes in one update.
    public init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// Creates a size of at most this many bytes, 1 or more.
    public init(integerLiteral bytes: Int) {
        self.init(bytes)
    }
}

/// A value that marks the end of a document.
///
/// The document may contain these bytes. A chunk that would be equal to the marker is made one byte shorter.
public struct EndMarker: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The bytes of the marker; 2 to 20, so that every central can receive the marker in one update.
    public let bytes: [UInt8]

    /// Creates a marker of 2 to 20 bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a marker from a text, in UTF-8.
    public init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    /// Creates a marker from bytes.
    public init(arrayLiteral bytes: UInt8...) {
        self.init(bytes)
    }
}
