/// How large the chunks of a transfer are.
public struct ChunkSize: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// `nil` for as many as there may be.
    let bytes: Int?

    /// As much as the central can get at once: its ``Central/maximumUpdateValueLength``, 20 to 512 bytes.
    public static let maximum = ChunkSize(bytes: nil)

    private init(bytes: Int?) {
        self.bytes = bytes
    }

    /// At most this many bytes, 1 or more; fewer for a central that cannot get so many at once.
    public init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// At most this many bytes, 1 or more.
    public init(integerLiteral bytes: Int) {
        self.init(bytes)
    }
}

/// A value of its own that tells a receiver that it has everything.
///
/// The document may contain it: a chunk that would be equal to it is made a byte shorter.
public struct EndMarker: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The bytes; 2 to 20, so that each central can get it.
    public let bytes: [UInt8]

    /// Makes a marker of 2 to 20 bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a marker of a text, in UTF-8.
    public init(stringLiteral text: String) {
        self.init(Array(text.utf8))
    }

    /// Makes a marker of bytes.
    public init(arrayLiteral bytes: UInt8...) {
        self.init(bytes)
    }
}
