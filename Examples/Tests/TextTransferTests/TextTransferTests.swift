import PeripheralKit
import PeripheralTesting
import Testing

@testable import text_transfer

@Suite(.timeLimit(.minutes(1)))
struct TextTransferTests {
    @Test func eachTextArrivesWhole() async throws {
        let source = TextPeripheral(name: "Text")
        let long = String(repeating: "Ein längerer Text. ", count: 50)
        try await source.peripheral.test { central, session in
            var received = try await source.texts(receivedBy: central).makeAsyncIterator()
            let (texts, text) = AsyncStream.makeStream(of: String.self)
            let offer = Task { try await source.offer(texts, over: session) { _ in } }
            for expected in ["short", long, ""] {
                text.yield(expected)
                #expect(try await received.next() == expected)
            }
            offer.cancel()
            await #expect(throws: CancellationError.self) { try await offer.value }
        }
    }

    /// A central with a part of a replaced text gets an end marker after that part.
    @Test func aTextThatIsReplacedDoesNotMixWithTheNext() async throws {
        let source = TextPeripheral(name: "Text")
        let long = String(repeating: "0123456789", count: 1000)
        try await source.peripheral.test { central, session in
            var received = try await source.texts(receivedBy: central).makeAsyncIterator()
            let (texts, text) = AsyncStream.makeStream(of: String.self)
            let began = AsyncStream.makeStream(of: Void.self)
            let offer = Task {
                try await source.offer(texts, over: session) { if $0.sent > 0 { began.continuation.yield() } }
            }
            text.yield(long)
            for await _ in began.stream { break }
            text.yield("next")
            let part = try await received.next()
            #expect(part.map(long.hasPrefix) == true)
            #expect(try await received.next() == "next")
            offer.cancel()
        }
    }

    /// A central that subscribes again gets the text again.
    @Test func whoSubscribesAgainGetsTheTextAgain() async throws {
        let source = TextPeripheral(name: "Text")
        try await source.peripheral.test { central, session in
            let (texts, text) = AsyncStream.makeStream(of: String.self)
            text.yield("once more")
            text.finish()
            let offer = Task { try await source.offer(texts, over: session) { _ in } }
            for _ in 0..<2 {
                var received = try await source.texts(receivedBy: central).makeAsyncIterator()
                #expect(try await received.next() == "once more")
                central.disconnect()
                try await central.connect()
            }
            offer.cancel()
        }
    }

    @Test func eachQuarterIsALine() {
        let bars = ProgressBars()
        func lines() -> Int {
            (0...20).count { bars.line(for: TransferProgress(sent: $0, total: 20)) != nil }
        }
        #expect(lines() == 4)
        // The same text again.
        #expect(lines() == 4)
    }

    @Test func theBarGrows() {
        let half = TransferProgress(sent: 5, total: 10)
        #expect(ProgressBars.bar("x", half).hasPrefix("[###############...............] 5 of 10"))
    }
}
