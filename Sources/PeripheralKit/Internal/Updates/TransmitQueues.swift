internal import PeripheralCore

/// The values on their way to subscribers: which wait, which are under way, and which go next.
///
/// A value for all subscribers waits for each of them in a queue of its own, so that none is held up by another; where
/// the stack cannot reach each alone, in one for all. What is under way to a central is bounded. All that has something
/// to send takes turns. A pure value: events in, what to submit and whom to answer out.
struct TransmitQueues {
    /// What tells a call that waits from all others of the same run.
    typealias Ticket = UInt64

    /// What has come of an event.
    struct Outcome {
        /// What to submit, in this order.
        var updates: [Update] = []
        /// Who waits no longer, and how it ended.
        var answers: [(Ticket, Result<Void, PeripheralError>)] = []
        /// How far transfers have come.
        var progress: [(Ticket, TransferProgress)] = []
    }

    /// What is said to a new value.
    enum Answer {
        case accepted
        case full
        case failed(PeripheralError)
    }

    /// A subscriber, `nil` being those whom the stack does not name.
    typealias Receiver = Central.ID?

    struct Subscriber {
        var central: Receiver
        var isAddressable: Bool
    }

    /// A value that was submitted and has not left.
    struct Flight {
        var characteristic: AttributeHandle
        /// `nil` when the subscription has ended since.
        var lane: TransmitLane.Key?
        var ticket: Ticket?
        /// How much of a document it is; `nil` for a value.
        var documentBytes: Int?
        var receivers: [Receiver]
    }

    /// How much of what a ticket stands for is still to be taken by the stack.
    struct Promise {
        var remaining: Int
        var isForAll: Bool
        var failure: PeripheralError?
    }

    /// A call that waits for room: for its value, or to know of it.
    struct Waiter {
        var ticket: Ticket
        var characteristic: AttributeHandle
        var recipients: Update.Recipients
        var value: [UInt8]?
        /// Whether its wait was counted.
        var isCounted = false
    }

    let policies: [AttributeHandle: UpdatePolicy]
    /// So many values for all together may be on their way beside those for each.
    static let placesForAll = 2

    /// How many values may be on their way to a central.
    var window: Int

    var subscribers: [AttributeHandle: [Subscriber]] = [:]
    var lanes: [TransmitLane.Key: TransmitLane] = [:]
    /// The lanes in which something waits, in the order of their turns.
    var turns: [TransmitLane.Key] = []
    var inFlight: [Receiver: Int] = [:]
    var flights: [Update.ID: Flight] = [:]
    var promises: [Ticket: Promise] = [:]
    /// In the order in which they began.
    var transfers: [Transfer] = []
    /// The longest update that each central can get.
    var maximumLengths: [Central.ID: Int] = [:]
    var waiters: [Waiter] = []
    var sequence: UInt64 = 0
    var nextNumber: UInt64 = 0
    var outcome = Outcome()
    /// What has become of the values whose lanes are gone.
    var past: [AttributeHandle: UpdateCounters] = [:]

    /// Makes the queues of all characteristics.
    ///
    /// - Parameters:
    ///   - policies: Those of the characteristics that can be updated, by their value handles.
    ///   - window: How many values may be on their way to a central.
    init(policies: [AttributeHandle: UpdatePolicy], window: Int = 16) {
        self.policies = policies
        self.window = window
    }

    /// Makes the identity of an update, which no other of the run has.
    mutating func makeID() -> Update.ID {
        defer { nextNumber += 1 }
        return Update.ID(nextNumber)
    }

    /// What is to be done about all that has happened since the last call.
    mutating func takeOutcome(at now: Duration) -> Outcome {
        repeat { send(at: now) } while admitWaiters(at: now)
        defer { outcome = Outcome() }
        return outcome
    }
}

// MARK: - Values

extension TransmitQueues {
    /// Offers a value, for which nobody waits if it finds no room.
    mutating func offer(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        to recipients: Update.Recipients,
        at now: Duration
    ) -> Answer {
        switch keys(of: characteristic, to: recipients, size: value.count) {
        case .failure(let error): .failed(error)
        case .success(let keys): offer(value, into: keys, at: now)
        }
    }

    /// Offers a value for several subscribers: for all of them or, if it finds no room with one, for none.
    mutating func offer(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        toEach centrals: [Central.ID],
        at now: Duration
    ) -> Answer {
        var all: [TransmitLane.Key] = []
        for central in centrals {
            switch keys(of: characteristic, to: .central(central), size: value.count) {
            case .failure(let error): return .failed(error)
            case .success(let keys): all += keys.filter { !all.contains($0) }
            }
        }
        return offer(value, into: all, at: now)
    }

    private mutating func offer(
        _ value: [UInt8],
        into keys: [TransmitLane.Key],
        at now: Duration
    ) -> Answer {
        guard hasRoom(in: keys, for: value.count), waiters.isEmpty || isFree(keys) else {
            for key in keys { lanes[key]?.counters.refused += 1 }
            return .full
        }
        put(value, into: keys, for: nil, at: now)
        return .accepted
    }

    /// Has a call wait until its value is taken by the stack or, without a value, until there would be room for one.
    mutating func wait(
        _ ticket: Ticket,
        for characteristic: AttributeHandle,
        to recipients: Update.Recipients,
        with value: [UInt8]?
    ) {
        waiters.append(
            Waiter(ticket: ticket, characteristic: characteristic, recipients: recipients, value: value)
        )
    }

    /// Takes back what a call has not yet got rid of.
    ///
    /// - Returns: Whether the call still waited.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        if let index = waiters.firstIndex(where: { $0.ticket == ticket }) {
            waiters.remove(at: index)
            return true
        }
        if cancelTransfer(ticket) { return true }
        guard promises.removeValue(forKey: ticket) != nil else { return false }
        for key in Array(lanes.keys) { withdraw(ticket, from: key) }
        return true
    }

    /// Takes out of a lane what belongs to a ticket and has not been handed on.
    mutating func withdraw(_ ticket: Ticket, from key: TransmitLane.Key) {
        lanes[key]?.withdraw(ticket)
        if lanes[key]?.isEmpty ?? true { turns.removeAll { $0 == key } }
    }

    /// Takes note that the stack has taken a value, which is on its way now.
    mutating func taken(_ id: Update.ID) {
        guard let flight = flights[id], let ticket = flight.ticket, flight.documentBytes == nil else {
            return
        }
        flights[id]?.ticket = nil
        settle(ticket, .success(()))
    }

    /// Takes note that a value has left, or could not be sent.
    mutating func ended(_ id: Update.ID, _ result: Result<Void, PeripheralError>) {
        guard let flight = flights.removeValue(forKey: id) else { return }
        for receiver in flight.receivers { inFlight[receiver]? -= 1 }
        if let lane = flight.lane {
            lanes[lane]?.left(result)
        } else {
            past[flight.characteristic, default: UpdateCounters()].count(result)
        }
        guard let ticket = flight.ticket else { return }
        if let bytes = flight.documentBytes {
            chunkEnded(of: ticket, bytes, by: flight.lane, result)
        } else {
            settle(ticket, result)
        }
    }
}

// MARK: - Subscribers

extension TransmitQueues {
    /// Takes note of a subscription, which begins anew for a central that is subscribed already.
    mutating func subscribed(_ central: Central.ID?, to characteristic: AttributeHandle, isAddressable: Bool)
    {
        if central != nil { end(central, characteristic, because: .notSubscribed, isAnew: true) }
        guard index(of: central, in: characteristic) == nil else { return }
        let subscriber = Subscriber(central: central, isAddressable: isAddressable && central != nil)
        subscribers[characteristic, default: []].append(subscriber)
        joinTransfers(subscriber, of: characteristic)
    }

    /// Takes note of what is known of a central.
    mutating func connected(_ central: Central) {
        maximumLengths[central.id] = central.maximumUpdateValueLength
    }

    /// Takes note of whether a subscriber can now be reached alone.
    mutating func changed(_ central: Central.ID?, of characteristic: AttributeHandle, isAddressable: Bool) {
        guard let index = index(of: central, in: characteristic) else { return }
        subscribers[characteristic]?[index].isAddressable = isAddressable && central != nil
    }

    private func index(of central: Central.ID?, in characteristic: AttributeHandle) -> Int? {
        subscribers[characteristic]?.firstIndex { $0.central == central }
    }

    /// Takes note of the end of a subscription.
    mutating func unsubscribed(_ central: Central.ID?, from characteristic: AttributeHandle) {
        end(central, characteristic, because: .notSubscribed)
    }

    /// Takes note that a central is gone, with all its subscriptions.
    mutating func disconnected(_ central: Central.ID) {
        for characteristic in Array(subscribers.keys) { end(central, characteristic, because: .disconnected) }
        (inFlight[central], maximumLengths[central]) = (nil, nil)
        for id in Array(flights.keys) { flights[id]?.receivers.removeAll { $0 == central } }
    }

    /// Takes note that everybody is gone, and that no more will be heard of what was submitted.
    mutating func suspended() {
        for (characteristic, subscribers) in subscribers {
            for subscriber in subscribers { end(subscriber.central, characteristic, because: .disconnected) }
        }
        for flight in flights.values {
            past[flight.characteristic, default: UpdateCounters()].dropped += 1
            guard let ticket = flight.ticket else { continue }
            settle(ticket, .failure(.disconnected))
        }
        (flights, inFlight, maximumLengths) = ([:], [:], [:])
    }

    private mutating func end(
        _ central: Central.ID?,
        _ characteristic: AttributeHandle,
        because error: PeripheralError,
        isAnew: Bool = false
    ) {
        subscribers[characteristic]?.removeAll { $0.central == central }
        defer { leaveTransfers(central, characteristic, because: isAnew ? nil : error) }
        if let central {
            empty(.central(characteristic, central), because: error)
            let gone = waiters.filter {
                $0.characteristic == characteristic && $0.recipients == .central(central)
            }
            waiters.removeAll { $0.characteristic == characteristic && $0.recipients == .central(central) }
            outcome.answers += gone.map { ($0.ticket, .failure(error)) }
        }
        if subscribers[characteristic]?.isEmpty ?? true { empty(.shared(characteristic), because: error) }
    }

    /// Drops a lane, and what waits in it.
    private mutating func empty(_ key: TransmitLane.Key, because error: PeripheralError) {
        guard let lane = lanes.removeValue(forKey: key) else { return }
        past[key.characteristic, default: UpdateCounters()].add(lane.finalCounters)
        turns.removeAll { $0 == key }
        for id in Array(flights.keys) where flights[id]?.lane == key { flights[id]?.lane = nil }
        for ticket in lane.entries.compactMap(\.ticket) { settle(ticket, .failure(error)) }
    }
}
