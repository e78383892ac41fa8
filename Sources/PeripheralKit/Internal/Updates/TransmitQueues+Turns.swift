internal import PeripheralCore

extension TransmitQueues {
    /// Submits what may go, each lane one value in a round; who has had its turn comes last in the next.
    mutating func send(at now: Duration) {
        var hasSent = true
        while hasSent, !turns.isEmpty {
            hasSent = false
            var waiting: [TransmitLane.Key] = []
            var served: [TransmitLane.Key] = []
            for key in turns {
                guard let entry = lanes[key]?.first else { continue }
                guard submit(entry, by: key, at: now) else {
                    waiting.append(key)
                    continue
                }
                hasSent = true
                if lanes[key]?.isEmpty == false { served.append(key) }
            }
            turns = waiting + served
        }
    }

    /// Submits the first value of a lane.
    ///
    /// - Returns: Whether it may go.
    private mutating func submit(
        _ entry: TransmitLane.Entry,
        by key: TransmitLane.Key,
        at now: Duration
    ) -> Bool {
        let receivers = receivers(of: key)
        let limit = maximumLength(for: receivers)
        guard maySend(entry, by: key, to: receivers),
            let departure = lanes[key]?.takeFirst(at: now, limit: limit)
        else { return false }
        let id = makeID()
        for receiver in receivers { inFlight[receiver, default: 0] += 1 }
        flights[id] = Flight(
            characteristic: key.characteristic,
            lane: key,
            ticket: departure.ticket,
            documentBytes: departure.documentBytes,
            receivers: receivers
        )
        if departure.documentBytes != nil { handedOn(by: key, for: departure.ticket) }
        outcome.updates.append(
            Update(
                id: id,
                characteristic: key.characteristic,
                value: departure.value,
                recipients: key.recipients
            )
        )
        return true
    }

    func receivers(of key: TransmitLane.Key) -> [Receiver] {
        switch key {
        case .central(_, let central): [central]
        case .shared(let characteristic): (subscribers[characteristic] ?? []).map(\.central)
        }
    }

    func maySend(
        _ entry: TransmitLane.Entry,
        by key: TransmitLane.Key,
        to receivers: [Receiver]
    ) -> Bool {
        guard let lane = lanes[key], lane.mayHaveMoreInFlight, hasPlace(for: lane, by: key, to: receivers)
        else { return false }
        switch key {
        case .central(let characteristic, _):
            return isAfter(lanes[.shared(characteristic)], entry)
        case .shared(let characteristic):
            return receivers.allSatisfy { receiver in
                receiver.map { isAfter(lanes[.central(characteristic, $0)], entry) } ?? true
            }
        }
    }

    /// Whether nothing older of the same characteristic is still to come from another lane, by which it takes another way.
    private func isAfter(_ other: TransmitLane?, _ entry: TransmitLane.Entry) -> Bool {
        guard let other else { return true }
        return other.inFlight == 0 && other.first.map { $0.sequence > entry.sequence } ?? true
    }

    /// Whether one more may be on its way to each receiver.
    ///
    /// A value for all together needs a place with each of them at the same time, which those for one would never leave:
    /// some are its own.
    private func hasPlace(for lane: TransmitLane, by key: TransmitLane.Key, to receivers: [Receiver]) -> Bool
    {
        if case .shared = key, lane.inFlight < Self.placesForAll { return true }
        return receivers.allSatisfy { inFlight[$0, default: 0] < window }
    }

    /// Gives room to those who wait for it, in the order in which they came.
    ///
    /// - Returns: Whether there is something new to send.
    mutating func admitWaiters(at now: Duration) -> Bool {
        guard !waiters.isEmpty else { return false }
        var isNew = false
        var taken: Set<TransmitLane.Key> = []
        var staying: [Waiter] = []
        for waiter in waiters {
            let size = waiter.value?.count
            switch keys(of: waiter.characteristic, to: waiter.recipients, size: size ?? maximumValueLength) {
            case .failure(let error):
                outcome.answers.append((waiter.ticket, .failure(error)))
            case .success(let keys) where !taken.isDisjoint(with: keys) || !hasRoom(for: waiter, in: keys):
                var waiter = waiter
                if waiter.value != nil {
                    taken.formUnion(keys)
                    if !waiter.isCounted { for key in keys { lanes[key]?.counters.waits += 1 } }
                    waiter.isCounted = true
                }
                staying.append(waiter)
            case .success(let keys):
                guard let value = waiter.value else {
                    outcome.answers.append((waiter.ticket, .success(())))
                    continue
                }
                put(value, into: keys, for: waiter, at: now)
                isNew = true
            }
        }
        waiters = staying
        return isNew
    }
}

extension TransmitQueues {
    /// Whether a waiter's value would be taken; any value, if it has none.
    private func hasRoom(for waiter: Waiter, in keys: [TransmitLane.Key]) -> Bool {
        if let value = waiter.value { return hasRoom(in: keys, for: value.count) }
        // An empty value takes another way than others.
        let all = waiter.recipients == .subscribers ? keys + [.shared(waiter.characteristic)] : keys
        return hasRoom(in: all, for: maximumValueLength)
    }

    /// Where a value goes; nowhere, when it is for all subscribers and there are none.
    func keys(
        of characteristic: AttributeHandle,
        to recipients: Update.Recipients,
        size: Int
    ) -> Result<[TransmitLane.Key], PeripheralError> {
        let subscribers = subscribers[characteristic] ?? []
        switch recipients {
        case .subscribers:
            guard size > 0, subscribers.allSatisfy(\.isAddressable) else {
                return .success(subscribers.isEmpty ? [] : [.shared(characteristic)])
            }
            return .success(subscribers.compactMap { $0.central.map { .central(characteristic, $0) } })
        case .central(let central):
            guard let subscriber = subscribers.first(where: { $0.central == central }) else {
                return .failure(.notSubscribed)
            }
            guard size > 0 && subscriber.isAddressable || subscribers.count == 1 else {
                return .failure(.notAddressable)
            }
            return .success([.central(characteristic, central)])
        }
    }

    func hasRoom(in keys: [TransmitLane.Key], for size: Int) -> Bool {
        keys.allSatisfy { lanes[$0]?.hasRoom(for: size) ?? true }
    }

    /// Whether no value waits for room in one of these lanes, which has come before.
    func isFree(_ keys: [TransmitLane.Key]) -> Bool {
        !waiters.contains { waiter in
            guard let value = waiter.value,
                case .success(let others) = self.keys(
                    of: waiter.characteristic,
                    to: waiter.recipients,
                    size: value.count
                )
            else { return false }
            return others.contains { keys.contains($0) }
        }
    }

    mutating func put(
        _ value: [UInt8],
        into keys: [TransmitLane.Key],
        for waiter: Waiter?,
        at now: Duration
    ) {
        if let waiter {
            guard !keys.isEmpty else { return outcome.answers.append((waiter.ticket, .success(()))) }
            let isForAll = waiter.recipients == .subscribers
            promises[waiter.ticket] = Promise(remaining: keys.count, isForAll: isForAll)
        }
        let ticket = waiter?.ticket
        let entry = TransmitLane.Entry(
            sequence: makeSequence(),
            ticket: ticket,
            content: .value(value),
            since: now
        )
        for key in keys { put(entry, into: key) }
    }

    /// Puts something behind all that waits in a lane.
    mutating func put(_ entry: TransmitLane.Entry, into key: TransmitLane.Key) {
        if lanes[key]?.isEmpty ?? true { turns.append(key) }
        let policy = policies[key.characteristic] ?? .reject
        let replaced = lanes[key, default: TransmitLane(policy)].append(entry)
        if let ticket = replaced?.ticket { settle(ticket, .success(())) }
    }

    /// The place of something new among all that wait.
    mutating func makeSequence() -> UInt64 {
        sequence += 1
        return sequence
    }

    /// Takes note that a part of what a ticket stands for is done.
    ///
    /// What is for all is for those who are there: it has not failed when one of them could not be reached.
    mutating func settle(_ ticket: Ticket, _ result: Result<Void, PeripheralError>) {
        guard var promise = promises[ticket] else { return }
        promise.remaining -= 1
        if case .failure(let error) = result, !(promise.isForAll && error.meansAbsence) {
            promise.failure = error
        }
        guard promise.remaining == 0 else { return promises[ticket] = promise }
        promises[ticket] = nil
        outcome.answers.append((ticket, promise.failure.map { .failure($0) } ?? .success(())))
    }
}

extension PeripheralError {
    /// Whether a central was not there, or not reached, to get an update.
    var meansAbsence: Bool {
        [.notSubscribed, .disconnected, .insufficientSecurity, .notAddressable].contains(code)
    }
}
