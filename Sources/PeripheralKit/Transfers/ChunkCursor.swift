/// What a transfer sends: bytes in chunks, and after them a mark of their end.
struct Document {
    var bytes: [UInt8]
    /// At most so many bytes in a chunk.
    var chunkSize: Int
    /// At least 2 bytes, and no more than any central can get.
    var endMarker: [UInt8]?
    /// Whether who gets a chunk confirms it before the next is sent.
    var isConfirmed = false
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
    private var isMarked: Bool
    /// Whether the mark is to come first.
    var marksRest: Bool
    /// Whether something of it has been taken.
    private(set) var hasBegun = false

    /// Begins a document, with the mark if that is to end a part which a receiver already has.
    init(_ document: Document, beginsWithMarker: Bool = false) {
        self.document = document
        isMarked = document.endMarker == nil
        marksRest = beginsWithMarker && document.endMarker != nil
    }

    /// Whether everything has been taken.
    var isAtEnd: Bool { offset == document.bytes.count && isMarked && !marksRest }

    var isConfirmed: Bool { document.isConfirmed }
    var hasMarker: Bool { document.endMarker != nil }

    /// What is left of it when no more is to be sent: the mark, for who has a part; `nil` when nobody has any.
    var cutShort: ChunkCursor? {
        guard marksRest || offset > 0, document.endMarker != nil else { return nil }
        var rest = document
        rest.bytes = []
        var cursor = ChunkCursor(rest)
        cursor.hasBegun = hasBegun
        return cursor
    }

    /// Takes the next chunk; `nil` at the end.
    ///
    /// It is not longer than the receivers can get at once, which is 20 bytes or more. One that happens to be equal to the
    /// mark is made a byte shorter: the receiver would take it for the end.
    mutating func next(limit: Int) -> Chunk? {
        defer { hasBegun = true }
        if marksRest, let marker = document.endMarker {
            marksRest = false
            return Chunk(value: marker, size: 0)
        }
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
