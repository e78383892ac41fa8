import PeripheralCore
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct MiscountsTests {
    private var miscounts = Miscounts()

    private func expect(_ miscounts: Miscounts, isTooLow: Bool = false, isTooHigh: Bool = false) {
        #expect(miscounts.isTooLow(0x12) == isTooLow)
        #expect(miscounts.isTooHigh(0x12) == isTooHigh)
        #expect(!miscounts.isTooLow(0x15) && !miscounts.isTooHigh(0x15))
    }

    /// bluetoothd reports that the last subscriber disconnects, unless its count is too high.
    @Test(arguments: [true, false])
    func countIsTooHighWhereNoStopFollowsTheLast(isReported: Bool) {
        var miscounts = miscounts
        let isAwaited = miscounts.lastLeft(0x12)
        #expect(isAwaited)
        if isReported { miscounts.stopped(0x12) }
        miscounts.settleLeaving(0x12)
        expect(miscounts, isTooHigh: !isReported)
        miscounts.subscribed(to: 0x12, isCorrected: true)
        expect(miscounts)
    }

    @Test
    func countIsTooLowUntilItIsCorrected() {
        var miscounts = miscounts
        miscounts.answerDropped(0x12, countsOthers: true)
        miscounts.subscribed(to: 0x12, isCorrected: false)
        expect(miscounts, isTooLow: true)
        miscounts.subscribed(to: 0x12, isCorrected: true)
        expect(miscounts)
    }

    /// The count does not go below 0.
    @Test
    func droppedAnswerOfTheOnlySubscriberChangesNothing() {
        var miscounts = miscounts
        _ = miscounts.lastLeft(0x12)
        miscounts.answerDropped(0x12, countsOthers: false)
        miscounts.settleLeaving(0x12)
        expect(miscounts)
    }

    @Test
    func lastOfTooFewIsNotAwaited() {
        var miscounts = miscounts
        miscounts.answerDropped(0x12, countsOthers: true)
        let isAwaited = miscounts.lastLeft(0x12)
        #expect(!isAwaited)
        expect(miscounts)
    }
}
