internal import PeripheralCore

/// Waiting until a central has been sent what came before.
extension TransmitQueues {
    /// A call that waits until the values before it have left for a central.
    ///
    /// A document is not waited for, nor what waits behind one: that may take minutes.
    struct Clearance {
        let ticket: Ticket
        let central: Central.ID
        /// The last value that was queued before.
        let lastSequence: UInt64
        /// The update after the last that is waited for; `nil` as long as one of them is queued.
        var end: UInt64?
    }

    /// Has a call wait until what is queued for a central, and what is on its way to it, has left.
    mutating func waitForClearance(_ ticket: Ticket, of central: Central.ID) {
        clearances.append(Clearance(ticket: ticket, central: central, lastSequence: sequence))
    }

    /// Takes back a call.
    ///
    /// - Returns: Whether it still waited.
    mutating func cancelClearance(_ ticket: Ticket) -> Bool {
        guard let index = clearances.firstIndex(where: { $0.ticket == ticket }) else { return false }
        clearances.remove(at: index)
        return true
    }

    /// Answers those for whom everything has left.
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

    private func isQueued(_ clearance: Clearance) -> Bool {
        turns.contains { place in
            guard !lanes[place].beginsWithDocument, let first = lanes[place].firstSequence else {
                return false
            }
            return first <= clearance.lastSequence && reaches(receivers(of: place), clearance.central)
        }
    }

    /// Whether a central is among these, or may be where the stack does not name them.
    private func reaches(_ receivers: [Receiver], _ central: Central.ID) -> Bool {
        receivers.contains { $0 == nil || $0 == central }
    }
}
