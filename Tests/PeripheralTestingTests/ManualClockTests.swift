import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ManualClockTests {
    @Test func aSleeperWakesAtItsDeadline() async throws {
        let clock = ManualClock()
        let start = clock.now
        let sleep = Task {
            try await clock.sleep(for: .seconds(5))
            return clock.now
        }
        await clock.waitForSleeper()
        clock.advance(by: .seconds(4))
        clock.advance(by: .seconds(1))
        #expect(try await start.duration(to: sleep.value) == .seconds(5))
    }

    @Test func whatIsPastNeedsNoSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)))
    }

    @Test(arguments: [true, false])
    func aCancelledSleeperWakes(isAsleep: Bool) async throws {
        let clock = ManualClock()
        let sleep = Task { try await clock.sleep(for: .seconds(5)) }
        if isAsleep { await clock.waitForSleeper() }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test(arguments: [true, false])
    func aCancelledObserverReturns(waits: Bool) async {
        let clock = ManualClock()
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let observer = Task {
            begin.finish()
            await clock.waitForSleeper()
        }
        if waits {
            for await _ in begins {}
        }
        observer.cancel()
        await observer.value
    }
}
