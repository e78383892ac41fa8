/// The calls whose values the stack has not accepted for all recipients yet.
struct PendingCompletions {
    private struct Entry {
        /// The number of queues whose part of the value the stack has not accepted.
        var remaining: Int
        /// Whether the value is for all connected subscribers.
        var isForAll: Bool
        var failure: PeripheralError?
    }

    private var entries: [TransmitQueues.Ticket: Entry] = [:]

    func contains(_ ticket: TransmitQueues.Ticket) -> Bool { entries[ticket] != nil }

    /// Adds a call whose value is in so many queues.
    mutating func begin(_ ticket: TransmitQueues.Ticket, parts: Int, isForAll: Bool) {
        entries[ticket] = Entry(remaining: parts, isForAll: isForAll)
    }

    /// Records that the stack has accepted the value from one of the queues, or that this part has failed.
    ///
    /// A value for all is only for connected subscribers. Such a value does not fail if one subscriber could
    /// not be reached.
    ///
    /// - Returns: The result of the call; `nil` if other parts are missing, or no call waits.
    mutating func endPart(
        of ticket: TransmitQueues.Ticket,
        _ result: Result<Void, PeripheralError>
    ) -> Result<Void, PeripheralError>? {
        guard var entry = entries[ticket] else { return nil }
        entry.remaining -= 1
        if case .failure(let error) = result, !(entry.isForAll && error.meansAbsence) {
            entry.failure = error
        }
        guard entry.remaining == 0 else {
            entries[ticket] = entry
            return nil
        }
        entries[ticket] = nil
        return entry.failure.map { .failure($0) } ?? .success(())
    }

    /// Removes a call.
    ///
    /// - Returns: Whether the call waited.
    mutating func remove(_ ticket: TransmitQueues.Ticket) -> Bool {
        entries.removeValue(forKey: ticket) != nil
    }
}
