internal import PeripheralCore

/// When advertisements slow down.
///
/// All advertisements are fast at the same time. Each slows down after a time of its own.
struct AdvertisingPace {
    /// When the advertisements became fast; `nil` if they are not on the air.
    private var start: Duration?
    /// The time since then for which the advertisements are slowed down.
    private var applied = Duration.zero
    /// Whether the advertisements have become fast, and may still be sent slowly.
    private var isRestarted = false

    /// Makes the advertisements fast again.
    mutating func restart(at now: Duration) {
        (start, applied, isRestarted) = (now, .zero, true)
    }

    /// Makes the advertisements fast again if they are on the air.
    mutating func restartIfStarted(at now: Duration) {
        if start != nil { restart(at: now) }
    }

    /// Returns when the advertisements change next; `nil` if they do not change.
    func next(of advertisements: [Advertisement]) -> Duration? {
        guard let start else { return nil }
        if isRestarted { return start }
        return advertisements.compactMap { $0.slowing?.time }.filter { $0 > applied }.min().map { start + $0 }
    }

    /// Returns the advertisements with their intervals at a time.
    mutating func pace(_ advertisements: [Advertisement], at now: Duration) -> [Advertisement] {
        (applied, isRestarted) = (start.map { now - $0 } ?? .zero, false)
        return advertisements.map { advertisement in
            guard let slowing = advertisement.slowing, slowing.time <= applied else { return advertisement }
            var slow = advertisement
            (slow.interval, slow.slowing) = (slowing.interval, nil)
            return slow
        }
    }
}
