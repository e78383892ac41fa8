internal import PeripheralCore

/// The updates that wait and the updates in flight, with the order in which updates are sent.
///
/// A value for all subscribers waits for each of them in a separate queue, so that no subscriber delays
/// another subscriber. If the stack cannot reach each subscriber alone, the value waits in one queue for all.
/// The number of values in flight to a central is limited. All queues with waiting values take turns.
///
/// The queues are a pure value: events in, updates to submit and calls to answer out.
struct TransmitQueues {
    /// Identifies a waiting call in a run.
    typealias Ticket = UInt64

    /// The effects of an event.
    struct Outcome {
        /// The updates to submit, in this order.
        var updates: [BackendUpdate] = []
        /// The calls that no longer wait, with their results.
        var answers: [(Ticket, Result<Void, PeripheralError>)] = []
        /// The progress of transfers.
        var progress: [(Ticket, TransferProgress)] = []
        /// Whether there is a deadline that is earlier than all deadlines before.
        var hasEarlierDeadline = false

        /// Whether the effects consist only of updates.
        fileprivate var isEmpty: Bool { answers.isEmpty && progress.isEmpty && !hasEarlierDeadline }
    }

    /// The answer to a new value.
    enum Answer {
        case accepted
        case full
        case failed(PeripheralError)
    }

    /// A subscriber.
    ///
    /// `nil` is for the subscribers that the stack does not identify.
    typealias SubscriberID = Central.ID?

    typealias QueueID = SubscriberQueue.ID

    var queues: SubscriberQueues
    /// The queues with waiting values, in the order of their turns.
    var turns: [QueueID] = []
    /// The queues that are last in the next round, retained to reuse the memory.
    var servedTurns: [QueueID] = []
    /// The number of the newest subscription.
    private(set) var lastSubscription: UInt64 = 0
    var updatesInFlight = InFlightTable()
    var pendingCompletions = PendingCompletions()
    /// In the order in which they began.
    var transfers: [Transfer] = []
    var waiters: [WaitingCall] = []
    var barriers = Barriers()
    var confirmedTurns = ConfirmedTurns()
    var sequence: UInt64 = 0
    private(set) var nextNumber: UInt64 = 0
    var outcome = Outcome()

    var retained = RetainedDelivery()
    /// Whether there may be retained updates to queue.
    var mayHaveRetained = false
    /// The sent updates that need not be retained any longer.
    var sentRetained: [UInt64] = []
    /// The next deadline, as far as the owner of the deadlines knows.
    var knownDeadline: Duration?

    /// Creates the queues of all characteristics.
    ///
    /// - Parameters:
    ///   - policies: The policies of the characteristics that can be updated, by their value handles.
    ///   - window: The number of values that may be in flight to a central.
    init(policies: [AttributeHandle: UpdatePolicy], window: Int = 16) {
        queues = SubscriberQueues(policies: policies, window: window)
    }

    /// Creates an update identifier that is unique in the run and higher than all earlier identifiers.
    mutating func makeID() -> BackendUpdate.ID {
        defer { nextNumber += 1 }
        return BackendUpdate.ID(nextNumber)
    }

    /// Takes the effects of all events since the last call.
    mutating func takeOutcome(at now: Duration, from source: Preservation? = nil) -> Outcome {
        var updates: [BackendUpdate] = []
        var outcome = takeOutcome(at: { now }, from: source, updates: &updates) ?? Outcome()
        outcome.updates = updates
        return outcome
    }

    /// Takes the effects of all events since the last call, and adds the updates to an array.
    ///
    /// - Parameters:
    ///   - now: Returns the time. It is called only if a value has waited, or has a deadline.
    ///   - source: The retained updates.
    ///   - updates: The array.
    /// - Returns: `nil` when the effects consist only of updates.
    mutating func takeOutcome(
        at now: () -> Duration,
        from source: Preservation? = nil,
        updates: inout [BackendUpdate]
    ) -> Outcome? {
        // New updates are appended without copying.
        swap(&updates, &outcome.updates)
        defer { swap(&updates, &outcome.updates) }
        repeat {
            send(at: now)
            sendConfirmed(at: now)
        } while admitWaiters() || queueRetained(at: now, from: source)
        answerBarriers()
        delayFailed(from: now)
        for place in turns { queues[place].waits(since: now) }
        for place in confirmedTurns.takeNewlyWaiting() { queues[place].counters.waits += 1 }
        guard !outcome.isEmpty else { return nil }
        var effects = Outcome()
        // The updates are in the array of the caller already.
        swap(&effects, &outcome)
        swap(&effects.updates, &outcome.updates)
        return effects
    }
}

// MARK: - Values

extension TransmitQueues {
    /// Offers a value.
    ///
    /// If one of the recipients has no room, the value is refused for all.
    mutating func offer(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        to recipients: UpdateRecipients,
        fallback: UpdateFallback = .none
    ) -> Answer {
        let places: [QueueID]
        switch queues.places(of: characteristic, to: recipients, size: value.count, fallback: fallback) {
        case .failure(let error): return .failed(error)
        case .success(let found): places = found
        }
        guard queues.hasRoom(in: places, for: value.count), waiters.isEmpty || isFree(places) else {
            for place in queues.lacking(places, room: value.count) { queues[place].counters.refused += 1 }
            return .full
        }
        put(.value(value), into: places, fallsBack: fallback.isToAll)
        return .accepted
    }

    /// Lets a call wait until the stack has accepted its value.
    ///
    /// Without a value, the call waits until there is room.
    mutating func wait(
        _ ticket: Ticket,
        for characteristic: AttributeHandle,
        to recipients: UpdateRecipients,
        fallback: UpdateFallback = .none,
        with value: [UInt8]?
    ) {
        waiters.append(
            WaitingCall(
                ticket: ticket,
                characteristic: characteristic,
                recipients: recipients,
                fallback: fallback,
                value: value
            )
        )
    }

    /// Withdraws the values of a call that have not been submitted.
    ///
    /// - Returns: Whether the call still waited.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        if let index = waiters.firstIndex(where: { $0.ticket == ticket }) {
            waiters.remove(at: index)
            return true
        }
        if cancelIndication(ticket) || cancelTransfer(ticket) || barriers.cancel(ticket) { return true }
        guard pendingCompletions.remove(ticket) else { return false }
        for place in queues.places { withdraw(ticket, from: place) }
        return true
    }

    /// Removes the entries of a ticket from a queue that have not been submitted.
    mutating func withdraw(_ ticket: Ticket, from place: QueueID) {
        queues[place].withdraw(ticket)
        if queues[place].isEmpty { turns.removeAll { $0 == place } }
    }

    /// Records that the stack has accepted a value, which is in flight now.
    mutating func taken(_ id: BackendUpdate.ID) {
        let ticket = updatesInFlight.change(id) { inFlightUpdate -> Ticket? in
            guard inFlightUpdate.isValue, let ticket = inFlightUpdate.ticket else { return nil }
            inFlightUpdate.ticket = nil
            return ticket
        }
        if let ticket { endPart(of: ticket, .success(())) }
    }

    /// Records that a value has completed, or could not be sent.
    ///
    /// - Parameters:
    ///   - id: The update.
    ///   - result: The failure, if it could not be sent.
    ///   - isKnown: Whether it is known that the value has completed.
    mutating func ended(_ id: BackendUpdate.ID, _ result: Result<Void, PeripheralError>, isKnown: Bool = true)
    {
        guard let update = updatesInFlight.remove(id) else { return }
        // The outcome of an update that was given up is known already.
        guard !update.isGivenUp, !fallBack(update, after: result) else { return }
        finish(update, result, isKnown: isKnown)
    }

    /// Sends a value to all subscribers together if the stack could not reach its subscriber alone.
    ///
    /// The value keeps its position among the values of the characteristic.
    ///
    /// - Returns: Whether the value is sent to all.
    private mutating func fallBack(_ update: InFlightUpdate, after result: Result<Void, PeripheralError>)
        -> Bool
    {
        guard case .failure(let error) = result, error.code == .notAddressable,
            case .valueWithFallback(let value, let sequence) = update.kind, let queue = update.queue,
            let shared = queues.characteristics[update.characteristicIndex].shared.first,
            // The call may have been cancelled.
            update.ticket.map(pendingCompletions.contains) ?? true
        else { return false }
        release(update)
        queues[queue].rerouted()
        barriers.reopen(from: sequence)
        // A value for several centrals is sent to all only once.
        for other in queues.characteristics[update.characteristicIndex].subscribers.flatMap(\.queue) {
            queues[other].withdrawFallback(at: sequence)
            if queues[other].isEmpty { turns.removeAll { $0 == other } }
        }
        guard !queues[shared].hasValue(at: sequence) else { return true }
        if queues[shared].isEmpty { turns.append(shared) }
        queues[shared].insert(SubscriberQueue.Entry(.value(value), sequence: sequence, for: update.ticket))
        return true
    }

    /// Releases the places of an update that is no longer in flight.
    private mutating func release(_ update: InFlightUpdate) {
        for subscriber in update.subscribers {
            queues.links.ended(to: subscriber, isAlone: !update.isForAll)
        }
    }

    /// Counts an update that is no longer in flight, and informs its call.
    mutating func finish(
        _ update: InFlightUpdate,
        _ result: Result<Void, PeripheralError>,
        isKnown: Bool = true
    ) {
        if !update.isConfirmed { release(update) }
        if let queue = update.queue {
            if update.kind == .indication {
                queues[queue].counters.count(result, isKnown: isKnown)
            } else {
                queues[queue].ended(result, isKnown: isKnown)
            }
        } else {
            queues.characteristics[update.characteristicIndex].past.count(result, isKnown: isKnown)
        }
        if queues.characteristics[update.characteristicIndex].policy.durableLimit != nil {
            endRetained(update.retained, result)
        }
        switch (update.kind, update.ticket) {
        case (.value, let ticket?), (.valueWithFallback, let ticket?): endPart(of: ticket, result)
        case (.indication, let ticket?): outcome.answers.append((ticket, result))
        case (.chunk(let bytes), let ticket?): chunkEnded(of: ticket, bytes, by: update.queue, result)
        case (.chunk(let bytes), nil): if let queue = update.queue { remnantEnded(by: queue, bytes, result) }
        case (_, nil): break
        }
    }
}

// MARK: - Subscriptions

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
        address: DeviceAddress? = nil,
        kind: UpdateKind? = nil
    ) {
        lastSubscription = number
        let characteristicIndex = queues.makeIndex(characteristic)
        let former = queues.characteristics[characteristicIndex].shared.first
        if central != nil {
            end(central, characteristicIndex, because: .notSubscribed, isResubscription: true)
        }
        guard queues.characteristics[characteristicIndex].subscriber(central) == nil else { return }
        let subscriber = SubscribedCharacteristic.Subscriber(
            central: central,
            isAddressable: isAddressable && central != nil,
            sharesUpdatesForAll: sharesUpdatesForAll,
            address: address,
            kind: kind,
            queue: central.map { [queues.makeQueue(of: characteristicIndex, to: $0)] } ?? []
        )
        let shared =
            queues.characteristics[characteristicIndex].shared.isEmpty
            ? queues.makeQueue(of: characteristicIndex, to: nil) : nil
        queues.characteristics[characteristicIndex].add(subscriber, shared: shared)
        // The central that subscribes again also receives the waiting indications for all.
        if let former, let shared { confirmedTurns.move(from: former, to: shared) }
        if let central, queues.characteristics[characteristicIndex].policy.durableLimit != nil {
            retained.subscribed(
                RetainedDelivery.SubscriptionID(characteristic: characteristic, central: central)
            )
            mayHaveRetained = true
        }
        joinTransfers(subscriber, of: characteristicIndex)
    }

    /// Updates the data of a central.
    mutating func connected(_ central: Central) {
        queues.connected(central)
    }

    /// Sets the number of values that may be in flight to a central without a number of its own.
    mutating func setWindow(_ window: Int) {
        queues.window = max(window, 1)
    }

    /// Changes the number of values that may be in flight to a central.
    mutating func setWindow(_ window: Int, of central: Central.ID) {
        queues.links.setWindow(max(window, 1), for: central)
    }

    /// Records whether a subscriber can be reached alone, and the kind of updates that it asks for.
    mutating func changed(
        _ central: Central.ID?,
        of characteristic: AttributeHandle,
        isAddressable: Bool,
        kind: UpdateKind? = nil
    ) {
        guard let characteristicIndex = queues.characteristicIndex(characteristic) else { return }
        queues.characteristics[characteristicIndex].change(central, isAddressable: isAddressable, kind: kind)
    }

    /// Handles the end of a subscription.
    mutating func unsubscribed(_ central: Central.ID?, from characteristic: AttributeHandle) {
        guard let characteristicIndex = queues.characteristicIndex(characteristic) else { return }
        end(central, characteristicIndex, because: .notSubscribed)
    }

    /// Handles a disconnection, which ends all subscriptions of the central.
    mutating func disconnected(_ central: Central.ID) {
        retained.missed(central)
        for characteristicIndex in queues.characteristics.indices {
            end(central, characteristicIndex, because: .disconnected)
        }
        queues.links.remove(central)
        updatesInFlight.changeAll { inFlightUpdate in
            if inFlightUpdate.subscribers.contains(central) {
                inFlightUpdate.subscribers.removeAll { $0 == central }
            }
        }
        // The central can no longer confirm an update that was only for the central.
        for id in updatesInFlight.ids(where: { $0.isConfirmed && !$0.isForAll && $0.subscribers.isEmpty }) {
            ended(id, .failure(.disconnected))
        }
    }

    /// Ends all subscriptions.
    ///
    /// Updates in flight will not be reported any more.
    mutating func suspended() {
        retained.interrupted()
        // An indication for all also fails, because no central can confirm the indication any more.
        for place in queues.places { failIndications(of: place, because: .disconnected) }
        for characteristicIndex in queues.characteristics.indices {
            for subscriber in queues.characteristics[characteristicIndex].subscribers {
                end(subscriber.central, characteristicIndex, because: .disconnected)
            }
        }
        for update in updatesInFlight.removeAll() where !update.isGivenUp {
            queues.characteristics[update.characteristicIndex].past.dropped += 1
            endRetained(update.retained, .failure(.disconnected))
            switch (update.kind, update.ticket) {
            case (.value, let ticket?), (.valueWithFallback, let ticket?):
                endPart(of: ticket, .failure(.disconnected))
            case (.indication, let ticket?): outcome.answers.append((ticket, .failure(.disconnected)))
            case (.chunk, _), (_, nil): break
            }
        }
        queues.links.removeAll()
    }

    mutating func end(
        _ central: Central.ID?,
        _ characteristicIndex: Int,
        because error: PeripheralError,
        isResubscription: Bool = false
    ) {
        let idle = queues.characteristics[characteristicIndex].remove(central)
        for place in idle { close(place, because: error, isResubscription: isResubscription) }
        if let central {
            let characteristic = queues.characteristics[characteristicIndex].characteristic
            retained.unsubscribed(
                RetainedDelivery.SubscriptionID(characteristic: characteristic, central: central)
            )
            func isGone(_ waiter: WaitingCall) -> Bool {
                waiter.characteristic == characteristic && waiter.recipients.names(central)
            }
            outcome.answers += waiters.filter(isGone).map { ($0.ticket, .failure(error)) }
            waiters.removeAll(where: isGone)
        }
        leaveTransfers(central, characteristicIndex, closing: idle, because: isResubscription ? nil : error)
    }

    /// Removes a queue and drops its waiting values.
    private mutating func close(_ place: QueueID, because error: PeripheralError, isResubscription: Bool) {
        let isForAll = queues[place].central == nil
        // An indication for all succeeds if all subscribers have left before its turn.
        if !isForAll || !isResubscription { failIndications(of: place, because: isForAll ? nil : error) }
        let queue = queues.remove(place)
        queues.characteristics[queue.characteristicIndex].past.add(queue.finalCounters)
        turns.removeAll { $0 == place }
        updatesInFlight.changeAll { if $0.queue == place { $0.queue = nil } }
        for entry in queue.entries {
            if let ticket = entry.ticket { endPart(of: ticket, .failure(error)) }
            endRetained(entry.retained, .failure(error))
        }
    }
}
