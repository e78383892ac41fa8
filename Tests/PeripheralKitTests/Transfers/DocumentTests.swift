import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

/// Documents that are cut into chunks.
@Suite(.timeLimit(.minutes(1)))
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

/// Documents that are put together from what centrals write.
@Suite(.timeLimit(.minutes(1)))
struct DocumentAssemblyTests {
    private let a = Central(address: .numbered(1))
    private let b = Central(address: .numbered(2))
    private let marker = Array("EOM".utf8)

    private func take(
        _ value: [UInt8],
        of central: Central,
        on connection: UInt64 = 0,
        _ assembly: inout DocumentAssembly
    ) -> ReceivedDocument? {
        assembly.take(WriteBuffer.Write(value: value, central: central, connection: connection)) { _, _ in
            true
        }
    }

    @Test func eachCentralHasDocumentsOfItsOwn() {
        var assembly = DocumentAssembly(until: marker, maximumSize: 10)
        let chunks: [(Central, [UInt8])] = [(a, [1, 2]), (b, [3]), (a, [4])]
        for (central, chunk) in chunks {
            let document = take(chunk, of: central, &assembly)
            #expect(document == nil)
        }
        let first = take(marker, of: a, &assembly)
        #expect(first?.bytes == [1, 2, 4] && first?.central == a && first?.isComplete == true)
        #expect(take(marker, of: b, &assembly)?.bytes == [3])
        // The next begins again, and may be empty.
        #expect(take(marker, of: b, &assembly)?.bytes == [])
    }

    @Test(arguments: [(10, true), (9, false)])
    func whatIsLongerThanAllowedIsCutAndSaidSo(size: Int, isComplete: Bool) {
        var assembly = DocumentAssembly(until: marker, maximumSize: size)
        for chunk: [UInt8] in [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]] { _ = take(chunk, of: a, &assembly) }
        let document = take(marker, of: a, &assembly)
        #expect(document?.bytes == Array(1...UInt8(size)))
        #expect(document?.isComplete == isComplete)
        _ = take([1], of: a, &assembly)
        #expect(take(marker, of: a, &assembly)?.isComplete == true)
    }

    @Test func aNewConnectionBeginsANewDocument() {
        var assembly = DocumentAssembly(until: marker, maximumSize: 10)
        _ = take([1], of: a, on: 1, &assembly)
        _ = take([2], of: a, on: 2, &assembly)
        #expect(take(marker, of: a, on: 2, &assembly)?.bytes == [2])
    }

    @Test func whatWasBegunByThoseWhoAreGoneIsForgotten() {
        var assembly = DocumentAssembly(until: marker, maximumSize: 10)
        _ = take([1], of: a, &assembly)
        _ = assembly.take(WriteBuffer.Write(value: [2], central: b)) { id, _ in id != a.id }
        #expect(take(marker, of: a, &assembly)?.bytes == [])
    }
}
