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
}

/// How long an advertisement has been on the air.
final class AdvertisingTime: Sendable {
    private let stopwatch = Mutex<(@Sendable () -> Duration)?>(nil)

    /// The time since it was on the air first; zero before.
    var elapsed: Duration { stopwatch.withLock { $0 }?() ?? .zero }

    /// Takes note that it is on the air; only the first time counts.
    func start(by clock: some Clock<Duration>) {
        stopwatch.withLock { stopwatch in
            guard stopwatch == nil else { return }
            let start = clock.now
            stopwatch = { start.duration(to: clock.now) }
        }
    }
}
