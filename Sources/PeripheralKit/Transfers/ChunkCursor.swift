/// The contents of a transfer: bytes that are sent in chunks, followed by an end marker.
struct Document {
    var bytes: [UInt8]
    /// The maximum size of a chunk, in bytes.
    var chunkSize: Int
    /// The marker has at least 2 bytes and fits into an update to every central.
    var endMarker: [UInt8]?
    /// Whether each recipient confirms a chunk before the next chunk is sent.
    var isConfirmed = false
}

/// The position of the next chunk of a document for one subscriber.
struct ChunkCursor {
    /// A part of a document.
    struct Chunk: Equatable {
        var value: [UInt8]
        /// The number of bytes of the document; 0 for the end marker.
        var size: Int
    }

    private let document: Document
    private var offset = 0
    private var isMarked: Bool
    /// Whether the end marker is sent first.
    var marksRest: Bool
    /// Whether a chunk has been submitted.
    private(set) var hasBegun = false

    /// Begins a document.
    ///
    /// The end marker is sent first if it has to end a part of another document.
    init(_ document: Document, beginsWithMarker: Bool = false) {
        self.document = document
        isMarked = document.endMarker == nil
        marksRest = beginsWithMarker && document.endMarker != nil
    }

    /// Whether all chunks have been submitted.
    var isAtEnd: Bool { offset == document.bytes.count && isMarked && !marksRest }

    var isConfirmed: Bool { document.isConfirmed }
    var hasMarker: Bool { document.endMarker != nil }

    /// The remaining contents when no more chunks are sent: the end marker, for subscribers that have a part.
    ///
    /// The contents are `nil` when no subscriber has a part.
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
    /// The chunk is not longer than the limit of the subscribers, which is 20 bytes or more. A chunk that is
    /// equal to the end marker is made one byte shorter. Otherwise, the subscriber would mistake it for the
    /// end marker.
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
