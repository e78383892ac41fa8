import Testing

@testable import PeripheralBlueZ

@Suite struct BusFairnessTests {
    private let start = ContinuousClock.now

    @Test func isAskedOnceWhenMuchHasGone() {
        var turns = BusFairness()
        let asked = (1...10 * BusFairness.packets).filter { _ in turns.sent(1, at: start) }
        #expect(asked == [BusFairness.packets])
    }

    @Test func isAwaitedWhenMuchHasGoneSinceItWasAsked() {
        var turns = BusFairness()
        _ = turns.sent(BusFairness.packets, at: start)
        _ = turns.sent(BusFairness.packets - 1, at: start)
        #expect(!turns.isAwaited)
        _ = turns.sent(1, at: start)
        #expect(turns.isAwaited)
        turns.answered(at: start)
        #expect(!turns.isAwaited)
    }

    @Test func isNotAskedAgainSoon() {
        var turns = BusFairness()
        let isFirstAsked = turns.sent(BusFairness.packets, at: start)
        turns.answered(at: start)
        let isAsked = [
            turns.sent(BusFairness.packets, at: start + BusFairness.interval - .nanoseconds(1)),
            turns.sent(BusFairness.packets - 1, at: start + BusFairness.interval),
            turns.sent(1, at: start + BusFairness.interval),
        ]
        #expect(isFirstAsked)
        #expect(isAsked == [false, false, true])
    }
}
