import TestSupport
import Testing

@testable import PeripheralKit

struct ChunkCursorTests {
    private func chunks(_ document: Document, limit: Int = 20) -> [[UInt8]] {
        var cursor = ChunkCursor(document)
        var chunks: [[UInt8]] = []
        while let chunk = cursor.next(limit: limit) { chunks.append(chunk.value) }
        #expect(cursor.isAtEnd)
        return chunks
    }

    @Test func theMarkFollowsTheLastChunk() {
        let document = Document(bytes: Array(0..<50), chunkSize: 20, endMarker: [69, 79, 77])
        #expect(chunks(document) == [Array(0..<20), Array(20..<40), Array(40..<50), [69, 79, 77]])
    }

    @Test func aDocumentWithoutMarkEndsWithItsLastChunk() {
        #expect(chunks(Document(bytes: [1, 2, 3], chunkSize: 2, endMarker: nil)) == [[1, 2], [3]])
        #expect(chunks(Document(bytes: [], chunkSize: 2, endMarker: nil)) == [])
        #expect(chunks(Document(bytes: [], chunkSize: 2, endMarker: [1, 2])) == [[1, 2]])
    }

    @Test func noChunkIsLongerThanTheSubscriberCanGet() {
        let document = Document(bytes: Array(0..<50), chunkSize: 512, endMarker: nil)
        #expect(chunks(document, limit: 30).map(\.count) == [30, 20])
    }

    @Test func noChunkIsTakenForTheMark() {
        let marker = Array("EOM".utf8)
        let bytes = Array("EOMEOMEOM".utf8)
        let chunks = chunks(Document(bytes: bytes, chunkSize: 3, endMarker: marker))
        #expect(chunks.last == marker && !chunks.dropLast().contains(marker))
        #expect(chunks.dropLast().flatMap(\.self) == bytes)
    }

    /// Whatever the sizes, the subscriber puts together what was sent.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func theChunksAreTheDocument(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Few different bytes, so that the marker comes about by itself.
        let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
            UInt8.random(in: 0...1, using: &random)
        }
        let marker = (0..<Int.random(in: 2...4, using: &random)).map { _ in
            UInt8.random(in: 0...1, using: &random)
        }
        let size = Int.random(in: 1...30, using: &random)
        var cursor = ChunkCursor(Document(bytes: bytes, chunkSize: size, endMarker: marker))
        var received: [UInt8] = []
        while let chunk = cursor.next(limit: .random(in: 20...40, using: &random)), chunk.value != marker {
            #expect(chunk.value.count <= size && chunk.value.count == chunk.size)
            received += chunk.value
        }
        #expect(received == bytes && cursor.isAtEnd)
    }
}
