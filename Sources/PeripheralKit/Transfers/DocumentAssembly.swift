internal import PeripheralCore

/// Assembles documents that centrals write in chunks.
///
/// The assembly is a pure value: chunks in, documents out. The unfinished document of a central that has
/// disconnected is dropped when the next document begins.
struct DocumentAssembly {
    private struct Part {
        var central: Central.ID
        var connection: UInt64
        var bytes: [UInt8] = []
        var isComplete = true
    }

    private let endMarker: [UInt8]
    private let maximumSize: Int
    private var parts: [Part] = []

    init(until endMarker: [UInt8], maximumSize: Int) {
        self.endMarker = endMarker
        self.maximumSize = maximumSize
    }

    /// Adds a chunk.
    ///
    /// - Parameters:
    ///   - write: The chunk, or the end marker.
    ///   - isConnected: Returns whether a connection of a central, given its number, still exists.
    /// - Returns: The document that the write ends; `nil` if the write ends no document.
    mutating func take(
        _ write: WriteBuffer.Write,
        isConnected: (Central.ID, UInt64) -> Bool
    ) -> ReceivedDocument? {
        let index = index(of: write, isConnected)
        if write.followsLoss || write.isLost { parts[index].isComplete = false }
        guard !write.isLost else { return nil }
        guard write.value == endMarker else {
            append(write.value, at: index)
            return nil
        }
        let part = parts.remove(at: index)
        return ReceivedDocument(bytes: part.bytes, central: write.central, isComplete: part.isComplete)
    }

    /// Returns the index of the document that a write belongs to, which may begin with it.
    private mutating func index(
        of write: WriteBuffer.Write,
        _ isConnected: (Central.ID, UInt64) -> Bool
    ) -> Int {
        let known = parts.firstIndex {
            $0.central == write.central.id && $0.connection == write.connection
        }
        if let known { return known }
        parts.removeAll { $0.central == write.central.id || !isConnected($0.central, $0.connection) }
        parts.append(Part(central: write.central.id, connection: write.connection))
        return parts.count - 1
    }

    private mutating func append(_ chunk: [UInt8], at index: Int) {
        let room = maximumSize - parts[index].bytes.count
        parts[index].isComplete = parts[index].isComplete && chunk.count <= room
        parts[index].bytes += chunk.prefix(room)
    }
}
