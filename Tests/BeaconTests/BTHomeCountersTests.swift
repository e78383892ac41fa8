import Synchronization
import TestSupport
import Testing

@testable import PeripheralBTHome

@Suite(.timeLimit(.minutes(1)))
struct BTHomeCountersTests {
    /// The program can end at any instant, and storing a counter can fail.
    @Test(arguments: 0..<16 as Range<UInt64>)
    func noCounterIsUsedTwice(seed: UInt64) {
        struct StoreFailed: Error {}
        var random = SeededGenerator(seed: seed)
        let stored = Mutex<UInt32>(.random(in: 0...1 << 31, using: &random))
        let fails = Mutex(false)
        var used: Set<UInt32> = []
        for _ in 0..<20 {
            let counters = BTHomeCounters(from: stored.withLock { $0 }) { next in
                if fails.withLock({ $0 }) { throw StoreFailed() }
                stored.withLock { $0 = next }
            }
            for _ in 0..<Int.random(in: 0...600, using: &random) {
                let failsNow = Int.random(in: 0..<8, using: &random) == 0
                fails.withLock { $0 = failsNow }
                guard let counter = try? counters.next() else { continue }
                let isNew = used.insert(counter).inserted
                #expect(isNew)
            }
        }
        #expect(used.count > 1000)
    }

    @Test func storesTheCounterBeforeItIsUsedAndRarely() throws {
        let stored = Mutex<[UInt32]>([])
        let counters = BTHomeCounters(from: 10) { next in stored.withLock { $0.append(next) } }
        #expect(stored.withLock { $0 } == [])
        #expect(try counters.next() == 10)
        #expect(stored.withLock { $0 } == [266])
        for _ in 0..<255 { _ = try counters.next() }
        #expect(stored.withLock { $0 } == [266])
        #expect(try counters.next() == 266)
        #expect(stored.withLock { $0 } == [266, 522])
    }

    @Test func endsWithTheLastCounter() throws {
        let stored = Mutex<UInt32>(0)
        let counters = BTHomeCounters(from: .max - 2) { next in stored.withLock { $0 = next } }
        #expect(try [counters.next(), counters.next()] == [.max - 2, .max - 1])
        #expect(stored.withLock { $0 } == .max)
        #expect {
            try counters.next()
        } throws: {
            "\($0)" == "All counters of the key are used. Choose another key."
        }
    }
}
