internal import Synchronization

/// The time that each advertisement of a run has been on the air, across interruptions.
final class AdvertisingTimes: Sendable {
    private let times = Mutex<[Int: AdvertisingTime]>([:])

    /// Returns the time of the advertisement with a number.
    func time(of number: Int) -> AdvertisingTime {
        times.withLock { times in
            let time = times[number] ?? AdvertisingTime()
            times[number] = time
            return time
        }
    }

    /// Resets the times of the advertisements that satisfy a condition.
    func reset(where isMeant: (Int) -> Bool) {
        times.withLock { times in
            for (number, time) in times where isMeant(number) { time.reset() }
        }
    }
}

/// The time that an advertisement has been on the air.
final class AdvertisingTime: Sendable {
    private struct State {
        var timeout: Duration?
        var elapsed: (@Sendable () -> Duration)?
    }

    private let state = Mutex(State())

    /// Returns the remaining time of a timeout, at least one second.
    ///
    /// A timeout that differs from the last timeout starts from the beginning.
    func rest(of timeout: Duration) -> Duration {
        state.withLock { state in
            if state.timeout != timeout { state = State(timeout: timeout) }
            return max(timeout - (state.elapsed?() ?? .zero), .seconds(1))
        }
    }

    func reset() {
        state.withLock { $0 = State() }
    }

    /// Records that the advertisement is on the air; only the first call counts.
    func start(by clock: some Clock<Duration>) {
        state.withLock { state in
            guard state.elapsed == nil else { return }
            let start = clock.now
            state.elapsed = { start.duration(to: clock.now) }
        }
    }
}
