internal import PeripheralCore
private import Synchronization

/// The durable updates that wait to be sent.
extension Preservation {
    /// Keeps an update for all who have subscribed to a durable characteristic, or are expected.
    ///
    /// Who is away gets the newest: nobody knows whether a central comes back, and what is kept for it holds up nobody else.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    ///   - limit: How many updates of the characteristic may wait for a subscriber.
    /// - Returns: Whether it is kept.
    func post(_ value: [UInt8], of characteristic: AttributeHandle, limit: Int) -> Bool {
        let isPosted = state.withLock { state in
            guard state.hasRoom(of: characteristic, limit: limit) else { return false }
            let update = DurableUpdate(characteristic: characteristic, value: value, limit: limit)
            if state.post(update) { saver.changed() }
            return true
        }
        if isPosted { saver.wake() }
        return isPosted
    }

    /// Returns when there is room for an update with all who have subscribed and are there.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped`, or `CancellationError`.
    func untilRoom(of characteristic: AttributeHandle, limit: Int) async throws {
        var changes = outboxChanges.listen().makeAsyncIterator()
        while !state.withLock({ $0.hasRoom(of: characteristic, limit: limit) }) {
            guard await changes.next() != nil else {
                try Task.checkCancellation()
                throw PeripheralError.stopped
            }
        }
    }

    /// Whose updates wait to be sent.
    var waitingUpdates: Set<Outbox.Key> { state.withLock { $0.outbox.keys } }

    /// The first update but for these; `nil` also while that has to be saved before.
    func nextUpdate(for key: Outbox.Key, besides numbers: [UInt64]) -> Outbox.Entry? {
        state.withLock { state in
            guard let entry = state.outbox.next(for: key, besides: numbers),
                entry.change <= saver.lastSaved
            else { return nil }
            return entry
        }
    }

    /// Takes note that updates have been sent.
    func sent(_ updates: [UInt64]) {
        guard !updates.isEmpty else { return }
        change { state in
            for update in updates { state.outbox.remove(update) }
        }
        outboxChanges.send(())
    }
}

extension Preservation.State {
    /// Whether there is room for an update with all who have subscribed and are there.
    func hasRoom(of characteristic: AttributeHandle, limit: Int) -> Bool {
        outbox.hasRoom(of: characteristic, for: history.liveAddresses(of: characteristic), limit: limit)
    }

    /// Keeps an update for all who have subscribed or are expected, and tells whether there are any.
    @discardableResult
    mutating func post(_ update: DurableUpdate, after change: UInt64 = 0) -> Bool {
        let addresses = history.addresses(of: update.characteristic)
        droppedUpdates += outbox.add(
            update.value,
            of: update.characteristic,
            for: addresses,
            limit: update.limit,
            sparing: history.liveAddresses(of: update.characteristic),
            after: change
        )
        return !addresses.isEmpty
    }
}
