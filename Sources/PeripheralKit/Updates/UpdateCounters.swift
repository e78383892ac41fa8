/// The number of updates with each outcome.
struct UpdateCounters: Hashable {
    var sent = 0
    /// The number of updates that may have been sent.
    var givenUp = 0
    var dropped = 0
    var refused = 0
    var waits = 0
    var longestWait = Duration.zero

    /// Counts an update that has completed, could not be sent, or whose outcome is unknown.
    mutating func count(_ result: Result<Void, PeripheralError>, isKnown: Bool = true) {
        switch result {
        case .success where isKnown: sent += 1
        case .failure(let error) where error.code != .unconfirmed: dropped += 1
        case .success, .failure: givenUp += 1
        }
    }

    /// Counts the time that an update has waited.
    mutating func count(wait: Duration) {
        longestWait = max(longestWait, wait)
    }

    /// Adds other counts.
    mutating func add(_ other: UpdateCounters) {
        sent += other.sent
        givenUp += other.givenUp
        dropped += other.dropped
        refused += other.refused
        waits += other.waits
        count(wait: other.longestWait)
    }
}
