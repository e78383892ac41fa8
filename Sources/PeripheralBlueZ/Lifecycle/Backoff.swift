/// How long to wait before something is tried again: longer after each failure, within bounds.
struct Backoff: Hashable {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(10)

    private var next = first

    /// The time to wait after another failure; at least half of it is to be waited, so that programs which have failed
    /// together do not come back together.
    mutating func grow() -> Duration {
        defer { next = min(next * 3 / 2, Self.longest) }
        return next
    }

    /// Begins anew, after a success.
    mutating func reset() {
        next = Self.first
    }
}
