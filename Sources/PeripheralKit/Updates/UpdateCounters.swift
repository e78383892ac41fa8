/// The numbers of updates in each state.
public struct UpdateCounters: Hashable, Sendable {
    /// The current number of queued values and waiting indications.
    ///
    /// A waiting document counts as one value. The number includes a document until the Bluetooth stack has
    /// accepted the last chunk of the document.
    public internal(set) var queued = 0

    /// The current number of values and chunks in flight.
    ///
    /// The Bluetooth stack has accepted the values and chunks in flight, but the session is still waiting for
    /// their completion. An indication is in flight until the central has confirmed the indication.
    public internal(set) var inFlight = 0

    /// The number of values and chunks that were sent successfully.
    ///
    /// An indication counts as sent when the central has confirmed the indication. ``CompletionReporting``
    /// describes how the session detects that a notification has been sent.
    public internal(set) var sent = 0

    /// The number of values and chunks that were not completed in time.
    ///
    /// The session stops waiting for the confirmation of an indication after 30 s. With
    /// ``CompletionReporting/observed``, the session also stops waiting for an update that is not completed
    /// within a time limit. The Bluetooth stack might nevertheless have sent an update that was not completed
    /// in time.
    public internal(set) var givenUp = 0

    /// The number of values that the session removed from a queue without sending them.
    ///
    /// The session removes a value without sending it in these cases:
    ///
    /// - An attempt to send the value fails.
    /// - A newer value replaces the queued value (see ``UpdatePolicy/latest``).
    /// - The subscription ends.
    /// - The peripheral is no longer published.
    public internal(set) var dropped = 0

    /// The number of values that ``PeripheralSession/update(_:_:)`` refused because a queue was full.
    public internal(set) var refused = 0

    /// The number of function calls that had to wait.
    ///
    /// Calls to ``PeripheralSession/notify(_:_:)-(_,Value)`` and ``PeripheralSession/readyToUpdate(_:)`` wait
    /// for room in a queue. Calls to ``PeripheralSession/indicate(_:_:)`` wait for earlier indications.
    public internal(set) var waits = 0

    /// The longest time that a value or an indication has waited in a queue.
    ///
    /// For a document, the session measures the waiting time of each chunk.
    public internal(set) var longestWait = Duration.zero

    package init() {}

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
    package mutating func add(_ other: UpdateCounters) {
        queued += other.queued
        inFlight += other.inFlight
        sent += other.sent
        givenUp += other.givenUp
        dropped += other.dropped
        refused += other.refused
        waits += other.waits
        count(wait: other.longestWait)
    }
}

extension UpdateCounters: CustomStringConvertible {
    /// The counts that are not 0, such as `2 queued, 16 sent, longest wait 0.5 seconds`.
    public var description: String {
        let counts = [
            (queued, "queued"), (inFlight, "in flight"), (sent, "sent"), (givenUp, "given up"),
            (dropped, "dropped"), (refused, "refused"), (waits, "waits"),
        ]
        var parts = counts.filter { $0.0 != 0 }.map { "\($0.0) \($0.1)" }
        if longestWait != .zero { parts.append("longest wait \(longestWait)") }
        return parts.isEmpty ? "no updates" : parts.joined(separator: ", ")
    }
}
