/// A clock on which each wait takes longer, for time limits that must not refuse anything on a busy machine.
package struct SlowClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    private let base = ContinuousClock()
    private let factor: Int

    /// Creates a clock.
    ///
    /// - Parameter factor: How many times longer each wait takes.
    package init(by factor: Int) {
        self.factor = factor
    }

    package var now: Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let now = now
        try await base.sleep(until: now + (deadline - now) * factor, tolerance: tolerance)
    }
}
