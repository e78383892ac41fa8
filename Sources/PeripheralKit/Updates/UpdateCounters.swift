/// What has become of values.
struct UpdateCounters: Hashable {
    var sent = 0
    /// How many may have been sent.
    var givenUp = 0
    var dropped = 0
    var refused = 0
    var waits = 0
    var longestWait = Duration.zero

    /// Counts a value that has left, or could not be sent, or of which that is not known.
    mutating func count(_ result: Result<Void, PeripheralError>, isKnown: Bool = true) {
        switch result {
        case .success where isKnown: sent += 1
        case .failure(let error) where error.code != .unconfirmed: dropped += 1
        case .success, .failure: givenUp += 1
        }
    }

    /// Counts the time for which something has waited.
    mutating func count(wait: Duration) {
        longestWait = max(longestWait, wait)
    }

    /// Adds what has become of others.
    mutating func add(_ other: UpdateCounters) {
        sent += other.sent
        givenUp += other.givenUp
        dropped += other.dropped
        refused += other.refused
        waits += other.waits
        count(wait: other.longestWait)
    }
}
