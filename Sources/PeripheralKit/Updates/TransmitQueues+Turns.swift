internal import PeripheralCore

extension TransmitQueues {
    /// Submits values, one for each queue in a round.
    ///
    /// A queue that has had its turn is last in the next round.
    mutating func send(at now: () -> Duration) {
        var hasSent = true
        while hasSent, !turns.isEmpty {
            hasSent = false
            var waiting = 0
            for index in turns.indices {
                let place = turns[index]
                guard !queues[place].isEmpty else { continue }
                let subscribers = queues.subscribers(of: place)
                guard queues.maySend(place, to: subscribers), !joinConfirmedTurns(place),
                    submitFirst(of: place, to: subscribers, at: now)
                else {
                    turns[waiting] = place
                    waiting += 1
                    continue
                }
                hasSent = true
                if !queues[place].isEmpty { servedTurns.append(place) }
            }
            turns.removeLast(turns.count - waiting)
            guard !servedTurns.isEmpty else { continue }
            turns += servedTurns
            servedTurns.removeAll(keepingCapacity: true)
        }
    }

    /// Lets the next chunk of a queue wait for its turn among the confirmed updates.
    ///
    /// - Returns: `false` if the next update of the queue is not confirmed.
    private mutating func joinConfirmedTurns(_ place: QueueID) -> Bool {
        guard queues[place].beginsWithConfirmed else { return false }
        let characteristicIndex = queues[place].characteristicIndex
        confirmedTurns.append(ConfirmedTurns.Turn(of: place, characteristicIndex: characteristicIndex))
        return true
    }

    /// Submits the first value or chunk of a queue.
    ///
    /// - Returns: Whether an update was submitted.
    private mutating func submitFirst(
        of place: QueueID,
        to subscribers: [SubscriberID],
        at now: () -> Duration
    ) -> Bool {
        let limit = queues[place].beginsWithDocument ? queues.links.maximumLength(for: subscribers) : .max
        retry(in: place, of: subscribers)
        guard let next = queues[place].takeFirst(at: now, limit: limit) else { return false }
        submit(
            next.value,
            next.kind,
            of: place,
            to: subscribers,
            for: next.ticket,
            retained: next.retained,
            deadline: next.isConfirmed ? now() + Self.confirmationLimit : nil
        )
        if next.documentBytes != nil { submitted(by: place, for: next.ticket) }
        return true
    }

    /// Submits a value.
    ///
    /// A value that needs confirmation has a deadline, at which the value is given up.
    private mutating func submit(
        _ value: [UInt8],
        _ kind: InFlightUpdate.Kind,
        of place: QueueID,
        to subscribers: [SubscriberID],
        for ticket: Ticket?,
        retained: [RetainedDelivery.Part],
        deadline: Duration?
    ) {
        let id = makeID()
        let isForAll = queues[place].central == nil
        if let deadline {
            setDeadline(deadline)
        } else {
            for subscriber in subscribers { queues.links.began(to: subscriber, isAlone: !isForAll) }
        }
        updatesInFlight.append(
            InFlightUpdate(
                kind: kind,
                characteristicIndex: queues[place].characteristicIndex,
                queue: place,
                ticket: ticket,
                retained: retained,
                subscribers: subscribers,
                isForAll: isForAll,
                isConfirmed: deadline != nil,
                deadline: deadline
            ),
            id
        )
        outcome.updates.append(
            BackendUpdate(
                id: id,
                characteristic: queues[place].characteristic,
                value: value,
                recipients: queues[place].recipients,
                awaitsConfirmation: deadline != nil,
                requiredRecipients: isForAll ? Set(retained.map(\.subscriber.id.central)) : [],
                lastSubscription: lastSubscription
            )
        )
    }

    /// Assigns room to waiting calls, in the order in which the calls began.
    ///
    /// - Returns: Whether there are new updates to send.
    mutating func admitWaiters() -> Bool {
        guard !waiters.isEmpty else { return false }
        var isNew = false
        var taken: [QueueID] = []
        var staying: [WaitingCall] = []
        for waiter in waiters {
            let size = waiter.value?.count ?? maximumValueLength
            switch queues(for: waiter, size: size) {
            case .failure(let error):
                outcome.answers.append((waiter.ticket, .failure(error)))
            case .success(let places)
            where places.contains(where: { taken.contains($0) }) || !hasRoom(for: waiter, in: places):
                var waiter = waiter
                if waiter.value != nil || waiter.isOverdue { taken += places }
                if !waiter.hasWaited {
                    for place in queues.lacking(places, room: size) { queues[place].counters.waits += 1 }
                }
                // Other calls may leave room for only one byte.
                if waiter.hasWaited, queues.hasRoom(in: places, for: 1) { waiter.chances += 1 }
                waiter.hasWaited = true
                staying.append(waiter)
            case .success(let places):
                guard let value = waiter.value else {
                    outcome.answers.append((waiter.ticket, .success(())))
                    continue
                }
                isNew = true
                guard !places.isEmpty else {
                    outcome.answers.append((waiter.ticket, .success(())))
                    continue
                }
                pendingCompletions.begin(
                    waiter.ticket,
                    parts: places.count,
                    isForAll: waiter.recipients == .subscribers
                )
                put(.value(value), into: places, for: waiter.ticket, fallsBack: waiter.fallback.isToAll)
            }
        }
        waiters = staying
        return isNew
    }
}

extension TransmitQueues {
    /// Returns whether there is room for a waiting value.
    ///
    /// Without a value, there must be room for any value.
    private func hasRoom(for waiter: WaitingCall, in places: [QueueID]) -> Bool {
        if let value = waiter.value { return queues.hasRoom(in: places, for: value.count) }
        // An empty value uses another route.
        let shared =
            waiter.recipients == .subscribers ? queues.characteristicIndex(waiter.characteristic) : nil
        return (places + (shared.map { queues.characteristics[$0].shared } ?? [])).allSatisfy { place in
            waiter.hasWaited && !waiter.isOverdue
                ? queues[place].hasAmpleRoom(for: maximumValueLength)
                : queues[place].hasRoom(for: maximumValueLength)
        }
    }

    private func queues(for waiter: WaitingCall, size: Int) -> Result<[QueueID], PeripheralError> {
        queues.places(of: waiter.characteristic, to: waiter.recipients, size: size, fallback: waiter.fallback)
    }

    /// Returns whether no earlier call has precedence in one of these queues.
    ///
    /// A call has precedence if it waits with a value, or has waited for too long.
    func isFree(_ places: [QueueID]) -> Bool {
        !waiters.contains { waiter in
            guard let size = waiter.value?.count ?? (waiter.isOverdue ? maximumValueLength : nil),
                case .success(let others) = self.queues(for: waiter, size: size)
            else { return false }
            return others.contains { places.contains($0) }
        }
    }

    /// Adds a value or a document behind all others of each queue.
    ///
    /// - Parameters:
    ///   - content: The value or the document.
    ///   - places: The queues.
    ///   - ticket: The call that waits for the outcome.
    ///   - retained: The subscribers for which a value is retained.
    ///   - fallsBack: Whether a value for one subscriber is sent to all together if the stack cannot reach
    ///     it alone.
    mutating func put(
        _ content: SubscriberQueue.Entry.Content,
        into places: [QueueID],
        for ticket: Ticket? = nil,
        retainedFor retained: [RetainedDelivery.Part] = [],
        fallsBack: Bool = false
    ) {
        let sequence = makeSequence()
        for place in places {
            if queues[place].isEmpty { turns.append(place) }
            let entry = SubscriberQueue.Entry(
                content,
                sequence: sequence,
                for: ticket,
                retainedFor: retained,
                fallsBack: fallsBack && queues[place].central != nil
            )
            let replaced = queues[place].append(entry)
            if let ticket = replaced?.ticket { endPart(of: ticket, .success(())) }
        }
    }

    /// Creates the next position in the order of arrival.
    mutating func makeSequence() -> UInt64 {
        sequence += 1
        return sequence
    }

    /// Records that a part of a call's work has ended.
    mutating func endPart(of ticket: Ticket, _ result: Result<Void, PeripheralError>) {
        guard let result = pendingCompletions.endPart(of: ticket, result) else { return }
        outcome.answers.append((ticket, result))
    }
}

// MARK: - Barriers

extension TransmitQueues {
    /// Lets a call wait until all values to a central, or to all centrals, have completed that are queued or
    /// in flight.
    ///
    /// A call for one central waits neither for values behind a document, which may take minutes, nor for
    /// indications.
    mutating func waitForBarrier(_ ticket: Ticket, of central: Central.ID?) {
        barriers.wait(ticket, for: central, upTo: sequence)
    }

    /// Answers the calls whose values have all completed.
    mutating func answerBarriers() {
        guard !barriers.isEmpty else { return }
        var barriers = barriers
        let cleared = barriers.takeCleared(nextNumber: nextNumber, isQueued: isQueued) { central, end in
            updatesInFlight.contains(before: end) { update in
                guard let central else {
                    return !update.isChunk && !update.isGivenUp && !update.subscribers.isEmpty
                }
                return !update.isConfirmed && reaches(update.subscribers, central)
            }
        }
        self.barriers = barriers
        outcome.answers += cleared.map { ($0, .success(())) }
    }

    private func isQueued(for central: Central.ID?, upTo lastSequence: UInt64) -> Bool {
        guard let central else {
            return confirmedTurns.hasIndication(upTo: lastSequence)
                || turns.contains { queues[$0].hasValue(upTo: lastSequence) }
        }
        return turns.contains { place in
            guard !queues[place].beginsWithDocument, let first = queues[place].firstSequence else {
                return false
            }
            return first <= lastSequence && reaches(queues.subscribers(of: place), central)
        }
    }

    /// Returns whether a central is among these subscribers.
    ///
    /// The result is also `true` if the stack does not identify a subscriber.
    private func reaches(_ subscribers: [SubscriberID], _ central: Central.ID) -> Bool {
        subscribers.contains { $0 == nil || $0 == central }
    }
}

// MARK: - Confirmed updates

/// Indications and confirmed chunks, which take turns.
extension TransmitQueues {
    /// The time within which a central must confirm an indication (Core Specification, Vol 3, Part F, 3.3.3).
    static let confirmationLimit = Duration.seconds(30)

    /// Adds an indication.
    ///
    /// Its ticket is answered when all recipients have confirmed it.
    mutating func indicate(
        _ ticket: Ticket,
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        to recipients: BackendUpdate.Recipients,
        at now: Duration
    ) {
        guard !queues.isClosed(characteristic) else {
            return outcome.answers.append((ticket, .failure(.serviceRemoved)))
        }
        guard let characteristicIndex = queues.characteristicIndex(characteristic),
            let place = queues.characteristics[characteristicIndex].queue(for: recipients)
        else {
            let error = queues.characteristicIndex(characteristic).map {
                queues.characteristics[$0].errorForStranger
            }
            let isForAll = recipients == .subscribers
            return outcome.answers.append(
                (ticket, isForAll ? .success(()) : .failure(error ?? .notSubscribed))
            )
        }
        indicate(value, by: place, of: characteristicIndex, for: ticket, at: now)
    }

    private mutating func indicate(
        _ value: [UInt8],
        by place: QueueID,
        of characteristicIndex: Int,
        for ticket: Ticket? = nil,
        retainedFor retained: [RetainedDelivery.Part] = [],
        at now: Duration
    ) {
        let indication = ConfirmedTurns.Indication(
            ticket: ticket,
            value: value,
            retained: retained,
            sequence: makeSequence(),
            since: now
        )
        confirmedTurns.append(
            ConfirmedTurns.Turn(of: place, characteristicIndex: characteristicIndex, indication)
        )
    }

    /// Submits the indications and chunks whose turn it is.
    mutating func sendConfirmed(at now: () -> Duration) {
        while let turn = takeConfirmedTurn() {
            let subscribers = queues.subscribers(of: turn.queue)
            guard let indication = turn.indication else {
                // The document may have been cancelled meanwhile, and another one may be due later.
                guard queues[turn.queue].beginsWithConfirmed, queues.maySend(turn.queue, to: subscribers)
                else {
                    continue
                }
                _ = submitFirst(of: turn.queue, to: subscribers, at: now)
                if queues[turn.queue].isEmpty { turns.removeAll { $0 == turn.queue } }
                continue
            }
            let now = now()
            queues[turn.queue].counters.count(wait: now - indication.since)
            submit(
                indication.value,
                .indication,
                of: turn.queue,
                to: subscribers,
                for: indication.ticket,
                retained: indication.retained,
                deadline: now + Self.confirmationLimit
            )
        }
    }

    private mutating func takeConfirmedTurn() -> ConfirmedTurns.Turn? {
        guard !confirmedTurns.isEmpty else { return nil }
        var turns = confirmedTurns
        defer { confirmedTurns = turns }
        return turns.takeNext(
            besides: updatesInFlight.all.flatMap(\.lanes),
            lanes: queues.lanes,
            waitsForDocument: { $1.sequence > queues.oldestConfirmedDocument(on: $0) }
        )
    }

    /// Withdraws an indication that waits for its turn.
    ///
    /// An indication in flight stays in flight until it has ended.
    ///
    /// - Returns: Whether the call waited.
    mutating func cancelIndication(_ ticket: Ticket) -> Bool {
        if let place = confirmedTurns.remove(ticket) {
            queues[place].counters.dropped += 1
            return true
        }
        guard let id = updatesInFlight.ids(where: { $0.ticket == ticket && $0.kind == .indication }).first
        else {
            return false
        }
        return updatesInFlight.change(id) { update in
            update.ticket = nil
            return true
        } ?? false
    }

    /// Ends the indications of a queue that wait for their turn.
    ///
    /// Without an error, only the indications of retained values fail.
    mutating func failIndications(of place: QueueID, because error: PeripheralError?) {
        for indication in confirmedTurns.removeAll(of: place) {
            queues[place].counters.dropped += 1
            endRetained(indication.retained, .failure(error ?? .notSubscribed))
            guard let ticket = indication.ticket else { continue }
            outcome.answers.append((ticket, error.map { .failure($0) } ?? .success(())))
        }
    }
}

// MARK: - Retained updates

/// Updates that are retained until they have been sent.
extension TransmitQueues {
    /// Records that there may be other retained updates.
    mutating func retainedChanged() {
        mayHaveRetained = true
    }

    /// Queues the retained updates for which there is room.
    ///
    /// - Returns: Whether updates were queued.
    mutating func queueRetained(at now: () -> Duration, from source: Preservation?) -> Bool {
        guard let source else { return false }
        if !sentRetained.isEmpty {
            // Before the next update is chosen, so that these updates are not chosen again.
            source.sent(sentRetained)
            sentRetained = []
        }
        guard mayHaveRetained else { return false }
        mayHaveRetained = false
        var hasQueued = false
        for index in queues.characteristics.indices
        where queues.characteristics[index].policy.durableLimit != nil
            && !queues.isClosed(queues.characteristics[index].characteristic)
        {
            while let next = nextRetained(of: index, from: source) {
                queue(next, of: index, at: now)
                hasQueued = true
            }
        }
        return hasQueued
    }

    private mutating func nextRetained(
        of characteristicIndex: Int,
        from source: Preservation
    ) -> RetainedDelivery.NextUpdate? {
        let characteristic = queues.characteristics[characteristicIndex]
        return retained.next(
            for: characteristic.retaining,
            usually: characteristic.reachesEach ? .alone : .together,
            from: source
        )
    }

    private mutating func queue(
        _ next: RetainedDelivery.NextUpdate,
        of characteristicIndex: Int,
        at now: () -> Duration
    ) {
        guard let first = next.parts.first else { return }
        let value = first.entry.update.value
        let recipients: BackendUpdate.Recipients =
            next.route == .alone ? .central(first.subscriber.id.central) : .subscribers
        guard let place = queues.characteristics[characteristicIndex].queue(for: recipients) else {
            return endRetained(next.parts, .failure(.notSubscribed))
        }
        if first.subscriber.kind == .indication {
            indicate(value, by: place, of: characteristicIndex, retainedFor: next.parts, at: now())
        } else if case .failure(let error) = queues.characteristics[characteristicIndex].queues(
            to: recipients,
            size: value.count
        ) {
            endRetained(next.parts, .failure(error))
        } else {
            put(.value(value), into: [place], retainedFor: next.parts)
        }
    }

    /// Records the outcome of an update.
    mutating func endRetained(_ parts: [RetainedDelivery.Part], _ result: Result<Void, PeripheralError>) {
        // Other updates of the characteristic may have occupied the room of retained updates.
        mayHaveRetained = true
        guard !parts.isEmpty else { return }
        let error: PeripheralError? = if case .failure(let error) = result { error } else { nil }
        sentRetained += retained.ended(parts, error)
    }
}

// MARK: - Deadlines

/// The times at which unconfirmed updates are given up, and failed updates are sent again.
extension TransmitQueues {
    private mutating func setDeadline(_ deadline: Duration) {
        guard knownDeadline.map({ deadline < $0 }) ?? true else { return }
        knownDeadline = deadline
        outcome.hasEarlierDeadline = true
    }

    /// Begins the delay of subscribers whose retained updates have failed.
    mutating func delayFailed(from now: () -> Duration) {
        if let due = retained.delayFailed(from: now) { setDeadline(due) }
    }

    /// The next deadline; `nil` if there is none.
    mutating func nextDeadline() -> Duration? {
        let deadlines = updatesInFlight.all.compactMap(\.deadline) + [retained.nextRetry].compactMap(\.self)
        knownDeadline = deadlines.min()
        return knownDeadline
    }

    /// Begins the time limits of all updates in flight again.
    mutating func restartDeadlines(at now: Duration) {
        updatesInFlight.changeAll { if $0.deadline != nil { $0.deadline = now + Self.confirmationLimit } }
    }

    /// Gives up updates that were not confirmed in time, and lets failed updates be sent again.
    ///
    /// - Returns: The updates that were given up. Each of them ends later.
    mutating func deadlinesPassed(at now: Duration) -> [BackendUpdate.ID] {
        if retained.retry(at: now) { retainedChanged() }
        let late = updatesInFlight.ids { $0.deadline.map { $0 <= now } ?? false }
        for id in late {
            let update = updatesInFlight.change(id) { update in
                defer {
                    (update.queue, update.ticket, update.deadline) = (nil, nil, nil)
                    (update.retained, update.isGivenUp) = ([], true)
                }
                return update
            }
            if let update { finish(update, .failure(.unconfirmed)) }
        }
        return late
    }
}

extension PeripheralError {
    /// Whether a central was not connected or not reachable for an update.
    var meansAbsence: Bool {
        [.notSubscribed, .disconnected, .insufficientSecurity, .notAddressable].contains(code)
    }
}
