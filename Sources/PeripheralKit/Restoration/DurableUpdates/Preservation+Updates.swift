internal import PeripheralCore
private import Synchronization

/// Durable updates that wait to be sent.
extension Preservation {
    /// Retains an update for all present and expected subscribers of a durable characteristic.
    ///
    /// For a subscriber that is not connected, only the newest updates are retained. Such a subscriber may
    /// never return and therefore does not delay other subscribers.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    ///   - limit: The number of updates of the characteristic that may wait for a subscriber.
    /// - Returns: Whether the update is retained.
    func post(_ value: [UInt8], of characteristic: AttributeHandle, limit: Int) -> Bool {
        let isPosted = state.withLock { state in
            guard state.hasRoom(of: characteristic, limit: limit) else { return false }
            let update = DurableUpdate(characteristic: characteristic, value: value, limit: limit)
            if state.post(update) { saver.changed() }
            return true
        }
        if isPosted { saver.wake() }
        outboxWakeup.wake()
        return isPosted
    }

    /// Retains an update as soon as there is room, and waits until it is saved.
    func notify(_ value: [UInt8], of characteristic: AttributeHandle, limit: Int) async throws {
        while !post(value, of: characteristic, limit: limit) {
            // Unsaved updates continue to occupy room. If the store is broken, flushing throws instead of
            // waiting.
            try await flush()
            try await untilRoom(of: characteristic, limit: limit)
        }
        try await flush()
    }

    /// Waits until all connected subscribers have room for an update.
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

    /// Returns the first update of each subscriber, except the given updates; `nil` while that update must be
    /// saved first.
    ///
    /// No update is retained between two of the answers. Otherwise, a value for several subscribers could
    /// seem to be a value for only some of them.
    func nextUpdates(for requests: [(key: Outbox.Key, besides: [UInt64])]) -> [Outbox.Entry?] {
        state.withLock { state in
            let lastSaved = saver.lastSaved
            return requests.map { request in
                guard let entry = state.outbox.next(for: request.key, besides: request.besides),
                    entry.change <= lastSaved
                else { return nil }
                return entry
            }
        }
    }

    /// Records that updates have been sent.
    func sent(_ updates: [UInt64]) {
        guard !updates.isEmpty else { return }
        change { state in
            for update in updates { state.outbox.remove(update) }
        }
        outboxChanges.send(())
    }
}

extension Preservation.State {
    /// Returns whether all connected subscribers have room for an update.
    func hasRoom(of characteristic: AttributeHandle, limit: Int) -> Bool {
        outbox.hasRoom(of: characteristic, for: history.liveAddresses(of: characteristic), limit: limit)
    }

    /// Retains an update for all present and expected subscribers, and returns whether such subscribers
    /// exist.
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
