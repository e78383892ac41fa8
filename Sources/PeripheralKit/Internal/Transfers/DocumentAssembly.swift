internal import PeripheralCore

/// Puts documents together that centrals write in chunks.
///
/// A pure value: chunks in, documents out. What a central had written that has left is forgotten when the next one begins.
struct DocumentAssembly {
    private struct Part {
        var connection: UInt64
        var bytes: [UInt8] = []
        var isComplete = true
    }

    private let endMarker: [UInt8]
    private let maximumSize: Int
    private var parts: [Central.ID: Part] = [:]

    init(until endMarker: [UInt8], maximumSize: Int) {
        self.endMarker = endMarker
        self.maximumSize = maximumSize
    }

    /// Takes a chunk.
    ///
    /// - Parameters:
    ///   - write: The chunk, or the end marker.
    ///   - isConnected: Whether a connection of a central lasts, by its number.
    /// - Returns: The document that is ended by it.
    mutating func take(
        _ write: WriteBuffer.Write,
        isConnected: (Central.ID, UInt64) -> Bool
    ) -> ReceivedDocument? {
        let id = write.central.id
        if parts[id]?.connection != write.connection {
            parts = parts.filter { isConnected($0.key, $0.value.connection) }
            parts[id] = Part(connection: write.connection)
        }
        guard write.value == endMarker else {
            append(write.value, of: id)
            return nil
        }
        guard let part = parts.removeValue(forKey: id) else { return nil }
        return ReceivedDocument(bytes: part.bytes, central: write.central, isComplete: part.isComplete)
    }

    private mutating func append(_ chunk: [UInt8], of central: Central.ID) {
        guard var part = parts.removeValue(forKey: central) else { return }
        let room = maximumSize - part.bytes.count
        part.isComplete = part.isComplete && chunk.count <= room
        part.bytes += chunk.prefix(room)
        parts[central] = part
    }
}
