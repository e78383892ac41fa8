internal import PeripheralCore

/// Waiting until earlier values have been sent to a central.
extension TransmitQueues {
    /// A call that waits until the earlier values to a central have completed.
    ///
    /// The call does not wait for documents or for values behind a document, because a document may take
    /// minutes.
    struct Barrier {
        let ticket: Ticket
        let central: Central.ID
        /// The last earlier value in the queue.
        let lastSequence: UInt64
        /// The identifier after the last update to wait for; `nil` while one of these updates is queued.
        var end: UInt64?
    }

    /// Lets a call wait until all values to a central that are queued or in flight have completed.
    mutating func waitForClearance(_ ticket: Ticket, of central: Central.ID) {
        clearances.append(Barrier(ticket: ticket, central: central, lastSequence: sequence))
    }

    /// Withdraws a call.
    ///
    /// - Returns: Whether the call still waited.
    mutating func cancelClearance(_ ticket: Ticket) -> Bool {
        guard let index = clearances.firstIndex(where: { $0.ticket == ticket }) else { return false }
        clearances.remove(at: index)
        return true
    }

    /// Answers the calls whose values have all completed.
    mutating func settleClearances() {
        guard !clearances.isEmpty else { return }
        for index in clearances.indices where clearances[index].end == nil && !isQueued(clearances[index]) {
            clearances[index].end = nextNumber
        }
        let cleared = clearances.filter { clearance in
            guard let end = clearance.end else { return false }
            return !flights.contains(before: end) { reaches($0.receivers, clearance.central) }
        }
        .map(\.ticket)
        guard !cleared.isEmpty else { return }
        clearances.removeAll { cleared.contains($0.ticket) }
        outcome.answers += cleared.map { ($0, .success(())) }
    }

    private func isQueued(_ clearance: Barrier) -> Bool {
        turns.contains { place in
            guard !lanes[place].beginsWithDocument, let first = lanes[place].firstSequence else {
                return false
            }
            return first <= clearance.lastSequence && reaches(receivers(of: place), clearance.central)
        }
    }

    /// Returns whether a central is among these subscribers.
    ///
    /// The result is also `true` if the stack does not identify a subscriber.
    private func reaches(_ receivers: [Receiver], _ central: Central.ID) -> Bool {
        receivers.contains { $0 == nil || $0 == central }
    }
}
