/// The delay before the next attempt, which grows after each failure within bounds.
struct Backoff: Hashable {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(10)

    private var next = first

    /// Returns the longest delay after another failure.
    ///
    /// Callers wait for a random time between half of this delay and the whole delay. Programs that failed at
    /// the same time therefore do not try again at the same time.
    mutating func grow() -> Duration {
        defer { next = min(next * 3 / 2, Self.longest) }
        return next
    }

    /// Starts again with the shortest delay, after a success.
    mutating func reset() {
        next = Self.first
    }
}
