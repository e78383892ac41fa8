import Testing

@testable import PeripheralKit

/// When what has changed is saved.
@Suite(.timeLimit(.minutes(1)))
struct SavingScheduleTests {
    private var schedule = SavingSchedule(interval: .milliseconds(500))

    private func at(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    @Test mutating func nothingToDoAtFirst() {
        #expect(schedule.next(at: .zero) == .rest)
        schedule.stop()
        #expect(schedule.next(at: .zero) == .finish)
    }

    @Test mutating func changesAreSavedTogether() {
        schedule.changed(at: at(100))
        #expect(schedule.next(at: at(100)) == .wait(until: at(600)))
        schedule.changed(at: at(300))
        #expect(schedule.next(at: at(300)) == .wait(until: at(600)))
        #expect(schedule.next(at: at(600)) == .save)
        #expect(schedule.next(at: at(601)) == .rest)
        schedule.succeeded()
        #expect(schedule.next(at: at(602)) == .rest)
    }

    @Test mutating func aChangeDuringASaveIsSavedByTheNext() {
        schedule.changed(at: at(0))
        #expect(schedule.next(at: at(500)) == .save)
        schedule.changed(at: at(510))
        schedule.succeeded()
        #expect(schedule.next(at: at(520)) == .wait(until: at(1010)))
        #expect(schedule.next(at: at(1010)) == .save)
    }

    @Test mutating func whoWaitsIsServedAtOnceButNotMoreOften() {
        schedule.changed(at: at(0))
        #expect(schedule.demand() == 1)
        #expect(schedule.next(at: at(0)) == .save)
        schedule.succeeded()
        schedule.changed(at: at(10))
        #expect(schedule.demand() == 2)
        #expect(schedule.next(at: at(10)) == .wait(until: at(500)))
        #expect(schedule.next(at: at(500)) == .save)
    }

    /// A handler's answer has a limit, whatever the interval.
    @Test mutating func whoWaitsDoesNotWaitForALongInterval() {
        schedule = SavingSchedule(interval: .seconds(70))
        schedule.changed(at: at(0))
        _ = schedule.demand()
        #expect(schedule.next(at: at(0)) == .save)
        schedule.succeeded()
        schedule.changed(at: at(10))
        #expect(schedule.next(at: at(10)) == .wait(until: .seconds(70) + at(10)))
        #expect(schedule.demand() == 2)
        #expect(schedule.next(at: at(10)) == .wait(until: at(500)))
        #expect(schedule.next(at: at(500)) == .save)
    }

    @Test(arguments: [0, 500]) mutating func whatFailsIsTriedLessAndLess(interval: Int) {
        schedule = SavingSchedule(interval: at(interval))
        schedule.changed(at: at(0))
        var now = at(500)
        var delays: [Duration] = []
        for _ in 0..<9 {
            #expect(schedule.next(at: now) == .save)
            #expect(schedule.failed(at: now) == 1)
            guard case .wait(let due) = schedule.next(at: now) else {
                Issue.record("it does not wait")
                return
            }
            delays.append(due - now)
            now = due
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    }

    @Test mutating func whatFailsIsTriedNoSoonerThanTheInterval() {
        schedule = SavingSchedule(interval: .seconds(70))
        schedule.changed(at: at(0))
        #expect(schedule.next(at: .seconds(70)) == .save)
        _ = schedule.failed(at: .seconds(71))
        #expect(schedule.next(at: .seconds(71)) == .wait(until: .seconds(140)))
    }

    @Test mutating func aFailureEndsTheHasteOfThoseWhoHaveWaited() {
        schedule.changed(at: at(0))
        _ = schedule.demand()
        #expect(schedule.next(at: at(0)) == .save)
        schedule.changed(at: at(1))
        #expect(schedule.demand() == 2)
        #expect(schedule.failed(at: at(2)) == 1)
        // The second waits still.
        #expect(schedule.next(at: at(2)) == .wait(until: at(500)))
        #expect(schedule.next(at: at(500)) == .save)
        #expect(schedule.failed(at: at(501)) == 2)
        #expect(schedule.next(at: at(501)) == .wait(until: at(2500)))
    }

    @Test mutating func allIsSavedAtTheEnd() {
        schedule.changed(at: at(0))
        schedule.stop()
        #expect(schedule.next(at: at(1)) == .save)
        schedule.succeeded()
        #expect(schedule.next(at: at(2)) == .finish)
    }

    @Test mutating func aStoreThatFailsDoesNotKeepTheEndWaiting() {
        schedule.changed(at: at(0))
        #expect(schedule.next(at: at(500)) == .save)
        _ = schedule.failed(at: at(501))
        schedule.stop()
        #expect(schedule.next(at: at(502)) == .save)
        _ = schedule.failed(at: at(503))
        #expect(schedule.next(at: at(504)) == .finish)
    }
}
