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
        /// What to submit when it is its turn among the indications.
        var indications: [Indication] = []
        /// Who waits no longer, and how it ended.
        var answers: [(Ticket, Result<Void, PeripheralError>)] = []
        /// How far transfers have come.
        var progress: [(Ticket, TransferProgress)] = []

        /// Whether there is nothing but updates.
        fileprivate var isEmpty: Bool { indications.isEmpty && answers.isEmpty && progress.isEmpty }
    }

    /// A chunk that is to be confirmed.
    struct Indication {
        var update: Update
        /// Whom it reaches, as far as is known.
        var centrals: [Central.ID]
        /// Whether its document begins with it.
        var isFirst: Bool
    }

    /// What is said to a new value.
    enum Answer {
        case accepted
        case full
        case failed(PeripheralError)
    }

    /// A subscriber, `nil` being those whom the stack does not name.
    typealias Receiver = Central.ID?

    typealias Place = TransmitLane.Place

    /// A value that was submitted and has not left.
    struct Flight {
        /// The characteristic, by its place among those that can be updated.
        var outlet: Int
        /// `nil` when the subscription has ended since.
        var lane: Place?
        var ticket: Ticket?
        /// How much of a document it is; `nil` for a value.
        var documentBytes: Int?
        /// None for what is confirmed: it takes no place among those that are not.
        var receivers: [Receiver]
    }

    /// How much of what a ticket stands for is still to be taken by the stack.
    struct Promise {
        var remaining: Int
        /// Whether it is for whoever is there.
        var isForAll: Bool
        /// Whether it is kept only when the value has left, not when the stack has taken it.
        var isUntilLeft: Bool
        /// Who is not to be missed.
        var mustReach: Set<Central.ID> = []
        var failure: PeripheralError?
    }

    /// A call that waits for room: for its value, or to know of it.
    struct Waiter {
        var ticket: Ticket
        var characteristic: AttributeHandle
        var recipients: Update.Recipients
        var value: [UInt8]?
        /// Whether it waits until the value has left, not only until the stack has taken it.
        var isUntilLeft = false
        /// Who is not to be missed by a value for all.
        var mustReach: Set<Central.ID> = []
        /// Whether there was no room for it when it came.
        var hasWaited = false
        /// How often it has found room, and waited for more.
        var chances = 0

        /// Whether nobody else is to take the room any more that it waits for.
        var isOverdue: Bool { value == nil && chances >= TransmitQueues.mostChances }
    }

    let policies: [AttributeHandle: UpdatePolicy]
    /// So many values for all together may be on their way beside those for each.
    static let placesForAll = 2
    /// Who waits to know of room goes on at the latest when there was some so many times: others may take it each time.
    static let mostChances = 8

    /// How many values may be on their way to a central.
    var window: Int

    var outlets: [Outlet] = []
    /// The places of the characteristics, by their handles: a dictionary would take longer for each value.
    private var outletIndices: [Int?] = []
    var lanes = LaneTable()
    /// The lanes in which something waits, in the order of their turns.
    var turns: [Place] = []
    /// Those that come last in the next order of turns, kept for its memory.
    var servedTurns: [Place] = []
    var receivers = ReceiverTable()
    var flights = FlightTable()
    var promises: [Ticket: Promise] = [:]
    /// In the order in which they began.
    var transfers: [Transfer] = []
    var waiters: [Waiter] = []
    var clearances: [Clearance] = []
    var countedIndications: [CountedIndication] = []
    var sequence: UInt64 = 0
    var nextNumber: UInt64 = 0
    var outcome = Outcome()

    /// Makes the queues of all characteristics.
    ///
    /// - Parameters:
    ///   - policies: Those of the characteristics that can be updated, by their value handles.
    ///   - window: How many values may be on their way to a central.
    init(policies: [AttributeHandle: UpdatePolicy], window: Int = 16) {
        self.policies = policies
        self.window = window
    }

    /// Makes the identity of an update, which no other of the run has, and which is higher than all before.
    mutating func makeID() -> Update.ID {
        defer { nextNumber += 1 }
        return Update.ID(nextNumber)
    }

    /// The characteristic, which has a place from its first subscriber on.
    func outlet(_ characteristic: AttributeHandle) -> Int? {
        let handle = Int(characteristic.rawValue)
        return handle < outletIndices.count ? outletIndices[handle] : nil
    }

    mutating func makeOutlet(_ characteristic: AttributeHandle) -> Int {
        if let outlet = outlet(characteristic) { return outlet }
        outlets.append(Outlet(characteristic, policies[characteristic] ?? .reject))
        let handle = Int(characteristic.rawValue)
        if handle >= outletIndices.count {
            outletIndices += repeatElement(nil, count: handle + 1 - outletIndices.count)
        }
        outletIndices[handle] = outlets.count - 1
        return outlets.count - 1
    }

    /// What is to be done about all that has happened since the last call.
    mutating func takeOutcome(at now: Duration) -> Outcome {
        var updates: [Update] = []
        var outcome = takeOutcome(at: { now }, updates: &updates) ?? Outcome()
        outcome.updates = updates
        return outcome
    }

    /// What is to be done about all that has happened since the last call, with the updates behind those that there are.
    ///
    /// What leaves at once has not waited: then nobody looks at the clock.
    ///
    /// - Returns: `nil` when there is nothing but updates.
    mutating func takeOutcome(at now: () -> Duration, updates: inout [Update]) -> Outcome? {
        // These come behind them, and nothing is copied.
        swap(&updates, &outcome.updates)
        defer { swap(&updates, &outcome.updates) }
        repeat { send(at: now) } while admitWaiters()
        settleClearances()
        for place in turns { lanes[place].waits(since: now) }
        guard !outcome.isEmpty else { return nil }
        defer { (outcome.indications, outcome.answers, outcome.progress) = ([], [], []) }
        return Outcome(indications: outcome.indications, answers: outcome.answers, progress: outcome.progress)
    }
}

// MARK: - Values

extension TransmitQueues {
    /// Offers a value, for which nobody waits if it finds no room.
    mutating func offer(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        to recipients: Update.Recipients
    ) -> Answer {
        switch lanes(of: characteristic, to: recipients, size: value.count) {
        case .failure(let error): .failed(error)
        case .success(let places): offer(value, into: places)
        }
    }

    /// Offers a value for several subscribers: for all of them or, if it finds no room with one, for none.
    mutating func offer(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        toEach centrals: [Central.ID]
    ) -> Answer {
        switch lanes(of: characteristic, toEach: centrals, size: value.count) {
        case .failure(let error): .failed(error)
        case .success(let places): offer(value, into: places)
        }
    }

    private mutating func offer(_ value: [UInt8], into places: [Place]) -> Answer {
        guard hasRoom(in: places, for: value.count), waiters.isEmpty || isFree(places) else {
            for place in lacking(places, room: value.count) { lanes[place].counters.refused += 1 }
            return .full
        }
        put(value, into: places, for: nil)
        return .accepted
    }

    /// Has a call wait until its value is taken by the stack, or has left, or, without a value, until there would be room
    /// for one.
    mutating func wait(
        _ ticket: Ticket,
        for characteristic: AttributeHandle,
        to recipients: Update.Recipients,
        with value: [UInt8]?,
        untilLeft isUntilLeft: Bool = false,
        mustReach: Set<Central.ID> = []
    ) {
        waiters.append(
            Waiter(
                ticket: ticket,
                characteristic: characteristic,
                recipients: recipients,
                value: value,
                isUntilLeft: isUntilLeft,
                mustReach: mustReach
            )
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
        if cancelTransfer(ticket) || cancelClearance(ticket) { return true }
        guard promises.removeValue(forKey: ticket) != nil else { return false }
        for place in lanes.places { withdraw(ticket, from: place) }
        return true
    }

    /// Takes out of a lane what belongs to a ticket and has not been handed on.
    mutating func withdraw(_ ticket: Ticket, from place: Place) {
        lanes[place].withdraw(ticket)
        if lanes[place].isEmpty { turns.removeAll { $0 == place } }
    }

    /// Takes note that the stack has taken a value, which is on its way now.
    mutating func taken(_ id: Update.ID) {
        let ticket = flights.change(id) { [promises] flight -> Ticket? in
            guard flight.documentBytes == nil, let ticket = flight.ticket,
                promises[ticket]?.isUntilLeft != true
            else { return nil }
            flight.ticket = nil
            return ticket
        }
        if let ticket { settle(ticket, .success(())) }
    }

    /// Whether an update is not to be sent any more, since its subscription has ended.
    func isOver(_ id: Update.ID) -> Bool {
        !flights.contains(id) { $0.lane != nil }
            && !countedIndications.contains { $0.id == id && !$0.isOutlived }
    }

    /// Takes note that a value has left, or could not be sent.
    ///
    /// - Parameters:
    ///   - id: The update.
    ///   - result: Why it could not be sent, if so.
    ///   - isKnown: Whether it is known that it has left, as far as anything is.
    mutating func ended(_ id: Update.ID, _ result: Result<Void, PeripheralError>, isKnown: Bool = true) {
        guard let flight = flights.remove(id) else { return indicationEnded(id, result) }
        for receiver in flight.receivers { receivers.ended(to: receiver) }
        if let lane = flight.lane {
            lanes[lane].left(result, isKnown: isKnown)
        } else {
            outlets[flight.outlet].past.count(result, isKnown: isKnown)
        }
        guard let ticket = flight.ticket else {
            if let bytes = flight.documentBytes, let lane = flight.lane {
                remnantEnded(by: lane, bytes, result)
            }
            return
        }
        if let bytes = flight.documentBytes {
            chunkEnded(of: ticket, bytes, by: flight.lane, result)
        } else {
            settle(ticket, result)
        }
    }
}
