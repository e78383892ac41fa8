import PeripheralConformance
import Testing

@testable import struct PeripheralConformance.ConformanceFailure
@testable import struct PeripheralConformance.CrashTestEntries
@testable import struct PeripheralConformance.CrashTestHistory
@testable import struct PeripheralConformance.CrashTestState

/// What a crash test accepts, and what it finds.
@Suite(.timeLimit(.minutes(1)))
struct CrashTestHistoryTests {
    private let start = ContinuousClock.now
    private var history = CrashTestHistory()

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// Writes 1 to the first value at second 1, and to the second one at second 2.
    private mutating func writeBoth(isPreserved: Bool = false) {
        history.begin { $0.first = 1 }
        history.end(at: at(1), isPreserved: false)
        history.begin { $0.second = 1 }
        history.end(at: at(2), isPreserved: isPreserved)
    }

    @Test mutating func whatWasTrueIsAsOldAsItsEnd() throws {
        writeBoth()
        #expect(try history.age(of: CrashTestState(first: 1, second: 1), at: at(5)) == .zero)
        #expect(try history.age(of: CrashTestState(first: 1), at: at(5)) == .seconds(3))
        #expect(try history.age(of: CrashTestState(), at: at(5)) == .seconds(4))
    }

    @Test mutating func aMixtureIsFound() {
        writeBoth()
        #expect(throws: ConformanceFailure.self) {
            try history.age(of: CrashTestState(second: 1), at: at(5))
        }
        #expect(throws: ConformanceFailure.self) {
            try history.age(of: CrashTestState(first: 1, second: 1, isSubscribed: true), at: at(5))
        }
    }

    @Test mutating func whatIsPreservedIsNotLost() throws {
        writeBoth(isPreserved: true)
        #expect(throws: ConformanceFailure.self) {
            try history.age(of: CrashTestState(first: 1), at: at(5))
        }
        #expect(try history.age(of: CrashTestState(first: 1, second: 1), at: at(5)) == .zero)
    }

    @Test mutating func aChangeUnderWayMayHaveTakenEffectOrNot() throws {
        history.begin { $0.durable = 1 }
        #expect(try history.age(of: CrashTestState(), at: at(5)) == .zero)
        #expect(try history.age(of: CrashTestState(durable: 1), at: at(5)) == .zero)
    }

    @Test func entriesComeInOrder() throws {
        var entries = CrashTestEntries()
        for number in 1...3 { entries.kept(UInt32(number)) }
        // The second one was not kept, for instance.
        for number in [1, 2, 3, 5] { try entries.received(UInt32(number)) }
        #expect(throws: ConformanceFailure.self) { try entries.received(4) }
    }

    @Test func aMissingEntryIsFound() throws {
        var entries = CrashTestEntries()
        entries.kept(1)
        entries.kept(2)
        try entries.received(1)
        #expect(throws: ConformanceFailure.self) { try entries.received(3) }
    }

    @Test func entriesMayComeAgainAfterAKillOnly() throws {
        var entries = CrashTestEntries()
        try entries.received(1)
        try entries.received(2)
        entries.killed()
        try entries.received(1)
        try entries.received(2)
        #expect(entries.longestRepeat == 2)
        #expect(throws: ConformanceFailure.self) { try entries.received(2) }
    }
}
