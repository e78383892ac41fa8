internal import PeripheralCore

/// The beginning and the end of subscriptions.
extension TransmitQueues {
    /// Handles a subscription.
    ///
    /// If the central has subscribed already, the subscription starts again.
    mutating func subscribed(
        _ central: Central.ID?,
        to characteristic: AttributeHandle,
        number: UInt64 = 0,
        isAddressable: Bool,
        sharesUpdatesForAll: Bool = false,
        takesIndications: Bool = true
    ) {
        lastSubscription = number
        let characteristicIndex = makeIndex(characteristic)
        if central != nil { end(central, characteristicIndex, because: .notSubscribed, isAnew: true) }
        guard characteristics[characteristicIndex].subscriber(central) == nil else { return }
        let subscriber = SubscribedCharacteristic.Subscriber(
            central: central,
            isAddressable: isAddressable && central != nil,
            sharesUpdatesForAll: sharesUpdatesForAll,
            takesIndications: takesIndications,
            queue: central.map { [makeQueue(of: characteristicIndex, to: $0)] } ?? []
        )
        let shared =
            characteristics[characteristicIndex].shared.isEmpty
            ? makeQueue(of: characteristicIndex, to: nil) : nil
        characteristics[characteristicIndex].add(subscriber, shared: shared)
        joinTransfers(subscriber, of: characteristicIndex)
    }

    private mutating func makeQueue(of characteristicIndex: Int, to central: Central.ID?) -> QueueID {
        let (characteristic, policy) = (
            characteristics[characteristicIndex].characteristic, characteristics[characteristicIndex].policy
        )
        return queues.insert(
            SubscriberQueue(characteristicIndex: characteristicIndex, of: characteristic, to: central, policy)
        )
    }

    /// Updates the data of a central.
    mutating func connected(_ central: Central) {
        subscribers.setMaximumLength(central.maximumUpdateValueLength, for: central.id)
    }

    /// Records whether a subscriber can be reached alone, and whether it may confirm later updates.
    mutating func changed(
        _ central: Central.ID?,
        of characteristic: AttributeHandle,
        isAddressable: Bool,
        takesIndications: Bool = true
    ) {
        guard let characteristicIndex = characteristicIndex(characteristic) else { return }
        characteristics[characteristicIndex].change(
            central,
            isAddressable: isAddressable,
            takesIndications: takesIndications
        )
    }

    /// Handles the end of a subscription.
    mutating func unsubscribed(_ central: Central.ID?, from characteristic: AttributeHandle) {
        guard let characteristicIndex = characteristicIndex(characteristic) else { return }
        end(central, characteristicIndex, because: .notSubscribed)
    }

    /// Handles a disconnection, which ends all subscriptions of the central.
    mutating func disconnected(_ central: Central.ID) {
        for characteristicIndex in characteristics.indices {
            end(central, characteristicIndex, because: .disconnected)
        }
        subscribers.remove(central)
        updatesInFlight.changeAll { inFlightUpdate in
            if inFlightUpdate.subscribers.contains(central) {
                inFlightUpdate.subscribers.removeAll { $0 == central }
            }
        }
    }

    /// Ends all subscriptions.
    ///
    /// Updates in flight will not be reported any more.
    mutating func suspended() {
        for characteristicIndex in characteristics.indices {
            for subscriber in characteristics[characteristicIndex].subscribers {
                end(subscriber.central, characteristicIndex, because: .disconnected)
            }
        }
        for inFlightUpdate in updatesInFlight.removeAll() {
            characteristics[inFlightUpdate.characteristicIndex].past.dropped += 1
            guard let ticket = inFlightUpdate.ticket else { continue }
            settle(ticket, .failure(.disconnected))
        }
        for indication in countedIndications { indicationEnded(indication.id, .failure(.disconnected)) }
        subscribers.removeAll()
    }

    private mutating func end(
        _ central: Central.ID?,
        _ characteristicIndex: Int,
        because error: PeripheralError,
        isAnew: Bool = false
    ) {
        let idle = characteristics[characteristicIndex].remove(central)
        for place in idle { close(place, because: error) }
        if let central {
            let characteristic = characteristics[characteristicIndex].characteristic
            func isGone(_ waiter: Waiter) -> Bool {
                waiter.characteristic == characteristic && waiter.recipients == .central(central)
            }
            outcome.answers += waiters.filter(isGone).map { ($0.ticket, .failure(error)) }
            waiters.removeAll(where: isGone)
        }
        leaveTransfers(central, characteristicIndex, closing: idle, because: isAnew ? nil : error)
    }

    /// Removes a queue and drops its waiting values.
    private mutating func close(_ place: QueueID, because error: PeripheralError) {
        let queue = queues.remove(place)
        characteristics[queue.characteristicIndex].past.add(queue.finalCounters)
        turns.removeAll { $0 == place }
        updatesInFlight.changeAll { if $0.queue == place { $0.queue = nil } }
        for index in countedIndications.indices where countedIndications[index].queue == place {
            countedIndications[index].queue = nil
        }
        for ticket in queue.entries.compactMap(\.ticket) { settle(ticket, .failure(error)) }
    }
}

// MARK: - Barriers

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
    mutating func waitForBarrier(_ ticket: Ticket, of central: Central.ID) {
        barriers.append(Barrier(ticket: ticket, central: central, lastSequence: sequence))
    }

    /// Withdraws a call.
    ///
    /// - Returns: Whether the call still waited.
    mutating func cancelBarrier(_ ticket: Ticket) -> Bool {
        guard let index = barriers.firstIndex(where: { $0.ticket == ticket }) else { return false }
        barriers.remove(at: index)
        return true
    }

    /// Answers the calls whose values have all completed.
    mutating func settleBarriers() {
        guard !barriers.isEmpty else { return }
        for index in barriers.indices where barriers[index].end == nil && !isQueued(barriers[index]) {
            barriers[index].end = nextNumber
        }
        let cleared = barriers.filter { barrier in
            guard let end = barrier.end else { return false }
            return !updatesInFlight.contains(before: end) { reaches($0.subscribers, barrier.central) }
        }
        .map(\.ticket)
        guard !cleared.isEmpty else { return }
        barriers.removeAll { cleared.contains($0.ticket) }
        outcome.answers += cleared.map { ($0, .success(())) }
    }

    private func isQueued(_ barrier: Barrier) -> Bool {
        turns.contains { place in
            guard !queues[place].beginsWithDocument, let first = queues[place].firstSequence else {
                return false
            }
            return first <= barrier.lastSequence && reaches(subscribers(of: place), barrier.central)
        }
    }

    /// Returns whether a central is among these subscribers.
    ///
    /// The result is also `true` if the stack does not identify a subscriber.
    private func reaches(_ subscribers: [SubscriberID], _ central: Central.ID) -> Bool {
        subscribers.contains { $0 == nil || $0 == central }
    }
}

// MARK: - Indications

/// The statistics of indications, which wait for their turn in ``IndicationQueues``.
extension TransmitQueues {
    /// An indication until it is confirmed.
    struct CountedIndication {
        let id: BackendUpdate.ID
        /// The index of the characteristic among those that can be updated.
        let characteristicIndex: Int
        /// The queue to its central, or to all together; `nil` when there is no such queue.
        var queue: QueueID?
        let since: Duration
        var isHandedOn = false
    }

    /// Records a new indication.
    mutating func willIndicate(
        _ update: BackendUpdate,
        hasToWait: Bool,
        at now: Duration
    ) {
        let characteristicIndex = makeIndex(update.characteristic)
        let queue: QueueID? =
            switch update.recipients {
            case .subscribers: characteristics[characteristicIndex].shared.first
            case .central(let central): characteristics[characteristicIndex].subscriber(central)?.queue.first
            }
        countedIndications.append(
            CountedIndication(
                id: update.id,
                characteristicIndex: characteristicIndex,
                queue: queue,
                since: now
            )
        )
        if hasToWait { count(by: queue, of: characteristicIndex) { $0.waits += 1 } }
    }

    /// Records that an indication was handed to the stack.
    mutating func indicationHandedOn(_ id: BackendUpdate.ID, at now: Duration) {
        guard let index = countedIndications.firstIndex(where: { $0.id == id }) else { return }
        countedIndications[index].isHandedOn = true
        let indication = countedIndications[index]
        count(by: indication.queue, of: indication.characteristicIndex) {
            $0.count(wait: now - indication.since)
        }
    }

    /// Records that an indication was confirmed, or will not be confirmed.
    mutating func indicationEnded(_ id: BackendUpdate.ID, _ result: Result<Void, PeripheralError>) {
        guard let index = countedIndications.firstIndex(where: { $0.id == id }) else { return }
        let indication = countedIndications.remove(at: index)
        count(by: indication.queue, of: indication.characteristicIndex) { $0.count(result) }
    }

    /// Returns how many indications wait for their turn, and how many await confirmation.
    func indications(
        where isMeant: (CountedIndication) -> Bool
    ) -> (queued: Int, inFlight: Int) {
        let meant = countedIndications.filter(isMeant)
        let inFlight = meant.count(where: \.isHandedOn)
        return (meant.count - inFlight, inFlight)
    }

    private mutating func count(
        by queue: QueueID?,
        of characteristicIndex: Int,
        _ change: (inout UpdateCounters) -> Void
    ) {
        if let queue {
            change(&queues[queue].counters)
        } else {
            change(&characteristics[characteristicIndex].past)
        }
    }
}

// MARK: - Statistics

extension TransmitQueues {
    /// The present state of a queue.
    struct Report {
        var characteristic: AttributeHandle
        /// `nil` for the queue to all subscribers together.
        var central: Central.ID?
        var queued: Int
        var inFlight: Int
        var counters: UpdateCounters
    }

    /// The queues that have been used since their subscriptions began, in the order of their handles.
    var reports: [Report] {
        queues.places.compactMap { place in
            let (queue, indications) = (queues[place], indications { $0.queue == place })
            guard queue.isUsed || indications != (0, 0) else { return nil }
            return Report(
                characteristic: queue.characteristic,
                central: queue.central,
                queued: queue.entries.count + indications.queued,
                inFlight: queue.inFlight + indications.inFlight,
                counters: queue.counters
            )
        }
        .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }

    private var usedLanes: [SubscriberQueue] { queues.places.map { queues[$0] }.filter(\.isUsed) }

    /// The totals of a characteristic, including values to former subscribers.
    struct Total {
        var characteristic: AttributeHandle
        var queued = 0
        var inFlight = 0
        var counters = UpdateCounters()
    }

    /// The characteristics whose queues have been used, in the order of their handles.
    var totals: [Total] {
        var totals = characteristics.map { Total(characteristic: $0.characteristic, counters: $0.past) }
        for queue in usedLanes {
            totals[queue.characteristicIndex].queued += queue.entries.count
            totals[queue.characteristicIndex].counters.add(queue.counters)
        }
        for inFlightUpdate in updatesInFlight.all { totals[inFlightUpdate.characteristicIndex].inFlight += 1 }
        for indication in countedIndications {
            totals[indication.characteristicIndex].queued += indication.isHandedOn ? 0 : 1
            totals[indication.characteristicIndex].inFlight += indication.isHandedOn ? 1 : 0
        }
        return totals.filter { $0.queued > 0 || $0.inFlight > 0 || $0.counters != UpdateCounters() }
            .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}
