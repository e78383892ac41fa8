internal import Synchronization

/// How long each advertisement of a run has been on the air, whatever has interrupted it.
final class AdvertisingTimes: Sendable {
    private let times = Mutex<[Int: AdvertisingTime]>([:])

    /// The time of the advertisement with a number.
    func time(of number: Int) -> AdvertisingTime {
        times.withLock { times in
            let time = times[number] ?? AdvertisingTime()
            times[number] = time
            return time
        }
    }

    /// Begins anew with the advertisements that the condition holds for.
    func reset(where isMeant: (Int) -> Bool) {
        times.withLock { times in
            for (number, time) in times where isMeant(number) { time.reset() }
        }
    }
}

/// How long an advertisement has been on the air.
final class AdvertisingTime: Sendable {
    private struct State {
        var timeout: Duration?
        var elapsed: (@Sendable () -> Duration)?
    }

    private let state = Mutex(State())

    /// What is left of a timeout, a second at least; another than before begins anew.
    func rest(of timeout: Duration) -> Duration {
        state.withLock { state in
            if state.timeout != timeout { state = State(timeout: timeout) }
            return max(timeout - (state.elapsed?() ?? .zero), .seconds(1))
        }
    }

    func reset() {
        state.withLock { $0 = State() }
    }

    /// Takes note that it is on the air; only the first time counts.
    func start(by clock: some Clock<Duration>) {
        state.withLock { state in
            guard state.elapsed == nil else { return }
            let start = clock.now
            state.elapsed = { start.duration(to: clock.now) }
        }
    }
}
