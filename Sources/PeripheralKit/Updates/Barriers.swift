/// The calls that wait until earlier values have completed.
struct Barriers {
    private struct Barrier {
        let ticket: TransmitQueues.Ticket
        /// `nil` for all centrals.
        let central: Central.ID?
        /// The last earlier value in the queues.
        let lastSequence: UInt64
        /// The number after the last update to wait for; `nil` while one of these updates is queued.
        var end: UInt64?
    }

    private var barriers: [Barrier] = []

    var isEmpty: Bool { barriers.isEmpty }

    /// Lets a call wait until all values to a central, or to all centrals, up to a position have completed.
    mutating func wait(_ ticket: TransmitQueues.Ticket, for central: Central.ID?, upTo lastSequence: UInt64) {
        barriers.append(Barrier(ticket: ticket, central: central, lastSequence: lastSequence))
    }

    /// Records that a value at a position is queued again.
    mutating func reopen(from sequence: UInt64) {
        for index in barriers.indices where barriers[index].lastSequence >= sequence {
            barriers[index].end = nil
        }
    }

    /// Withdraws a call.
    ///
    /// - Returns: Whether the call still waited.
    mutating func cancel(_ ticket: TransmitQueues.Ticket) -> Bool {
        guard let index = barriers.firstIndex(where: { $0.ticket == ticket }) else { return false }
        barriers.remove(at: index)
        return true
    }

    /// Takes the calls whose values have all completed.
    ///
    /// - Parameters:
    ///   - nextNumber: The number of the next update.
    ///   - isQueued: Returns whether a value to the centrals up to a position waits in a queue.
    ///   - isInFlight: Returns whether an update to the centrals before a number is in flight.
    /// - Returns: The tickets of the calls.
    mutating func takeCleared(
        nextNumber: UInt64,
        isQueued: (Central.ID?, _ lastSequence: UInt64) -> Bool,
        isInFlight: (Central.ID?, _ end: UInt64) -> Bool
    ) -> [TransmitQueues.Ticket] {
        for index in barriers.indices where barriers[index].end == nil {
            guard !isQueued(barriers[index].central, barriers[index].lastSequence) else { continue }
            barriers[index].end = nextNumber
        }
        let cleared = barriers.filter { barrier in
            barrier.end.map { !isInFlight(barrier.central, $0) } ?? false
        }
        .map(\.ticket)
        barriers.removeAll { cleared.contains($0.ticket) }
        return cleared
    }
}
