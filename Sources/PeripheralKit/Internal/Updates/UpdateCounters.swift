/// What has become of values.
struct UpdateCounters: Hashable {
    var sent = 0
    var dropped = 0
    var refused = 0
    var waits = 0
    var longestWait = Duration.zero

    /// Counts a value that has left, or could not be sent.
    mutating func count(_ result: Result<Void, PeripheralError>) {
        switch result {
        case .success: sent += 1
        case .failure: dropped += 1
        }
    }

    /// Adds what has become of others.
    mutating func add(_ other: UpdateCounters) {
        sent += other.sent
        dropped += other.dropped
        refused += other.refused
        waits += other.waits
        longestWait = max(longestWait, other.longestWait)
    }
}
