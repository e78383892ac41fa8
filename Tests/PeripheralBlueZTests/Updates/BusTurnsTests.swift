import Testing

@testable import PeripheralBlueZ

@Suite struct BusTurnsTests {
    private let start = ContinuousClock.now

    @Test func isAskedOnceWhenMuchHasGone() {
        var turns = BusTurns()
        let asked = (1...10 * BusTurns.packets).filter { _ in turns.sent(1, at: start) }
        #expect(asked == [BusTurns.packets])
    }

    @Test func isAwaitedWhenMuchHasGoneSinceItWasAsked() {
        var turns = BusTurns()
        _ = turns.sent(BusTurns.packets, at: start)
        _ = turns.sent(BusTurns.packets - 1, at: start)
        #expect(!turns.isAwaited)
        _ = turns.sent(1, at: start)
        #expect(turns.isAwaited)
        turns.answered(at: start)
        #expect(!turns.isAwaited)
    }

    @Test func isNotAskedAgainSoon() {
        var turns = BusTurns()
        let isFirstAsked = turns.sent(BusTurns.packets, at: start)
        turns.answered(at: start)
        let isAsked = [
            turns.sent(BusTurns.packets, at: start + BusTurns.interval - .nanoseconds(1)),
            turns.sent(BusTurns.packets - 1, at: start + BusTurns.interval),
            turns.sent(1, at: start + BusTurns.interval),
        ]
        #expect(isFirstAsked)
        #expect(isAsked == [false, false, true])
    }
}
