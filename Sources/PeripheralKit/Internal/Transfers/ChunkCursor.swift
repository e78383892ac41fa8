/// What a transfer sends: bytes in chunks, and after them a mark of their end.
struct Document {
    var bytes: [UInt8]
    /// At most so many bytes in a chunk.
    var chunkSize: Int
    /// At least 2 bytes, and no more than any central can get.
    var endMarker: [UInt8]?
}

/// A place in a document, up to which it has been handed on to one receiver.
struct ChunkCursor {
    /// A part of a document.
    struct Chunk: Equatable {
        var value: [UInt8]
        /// How many bytes of the document these are: none of the mark.
        var size: Int
    }

    private let document: Document
    private var offset = 0
    private var isMarked = false

    init(_ document: Document) {
        self.document = document
        isMarked = document.endMarker == nil
    }

    /// Whether everything has been taken.
    var isAtEnd: Bool { offset == document.bytes.count && isMarked }

    /// Takes the next chunk; `nil` at the end.
    ///
    /// One that happens to be equal to the mark is made a byte shorter: the receiver would take it for the end.
    ///
    /// - Parameter limit: How many bytes the receivers can get at once; at least 20.
    mutating func next(limit: Int) -> Chunk? {
        let rest = document.bytes.count - offset
        guard rest > 0 else {
            guard !isMarked, let marker = document.endMarker else { return nil }
            isMarked = true
            return Chunk(value: marker, size: 0)
        }
        var size = min(rest, document.chunkSize, limit)
        if document.bytes[offset..<offset + size].elementsEqual(document.endMarker ?? []) { size -= 1 }
        defer { offset += size }
        return Chunk(value: Array(document.bytes[offset..<offset + size]), size: size)
    }
}
