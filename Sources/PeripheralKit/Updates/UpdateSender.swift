internal import PeripheralCore
internal import Synchronization

/// Sends updates through the backend, and answers those who wait for what becomes of them.
final class UpdateSender: Sendable {
    struct State {
        /// The way to the backend, also while that is off the air.
        var link: (any BackendLink)?
        var isOffTheAir = true
        var isStopped = false
        var queues: TransmitQueues
        /// What goes through the link next.
        var outgoing: [Update] = []
        var isHandingOn = false
        /// Who waits for a place in the queues, or for what becomes of a value in them.
        var callers: [TransmitQueues.Ticket: Caller] = [:]
        /// Who waits for the end of a transfer.
        var transfers: [(ticket: TransmitQueues.Ticket, report: TransferReport)] = []
        var nextTicket: TransmitQueues.Ticket = 0
        /// The calls that were cancelled before they could wait.
        var cancelled: Set<TransmitQueues.Ticket> = []
        var indications = IndicationQueues()
        /// Who waits for a confirmation.
        var indicating: [Update.ID: Caller] = [:]
        /// The indications whose callers were cancelled before they could wait.
        var abandoned: Set<Update.ID> = []
        /// What ends an indication that nobody confirms.
        var timers: [Update.ID: Task<Void, Never>] = [:]

        var pacing = UpdatePacing.unknown

        /// Updates, with the way that they take.
        struct Outgoing {
            let link: any BackendLink
            var updates: [Update]
        }

        /// The way for updates.
        var linkOnTheAir: (any BackendLink)? { isOffTheAir ? nil : link }
    }

    typealias Caller = CheckedContinuation<Result<Void, any Error>, Never>

    let stopwatch: Stopwatch
    let state: Mutex<State>

    /// Makes a sender.
    ///
    /// - Parameters:
    ///   - policies: How the characteristics that can be updated do that, by their value handles.
    ///   - clock: What measures how long a central has to confirm.
    init(policies: [AttributeHandle: UpdatePolicy], clock: any Clock<Duration>) {
        stopwatch = Stopwatch(clock)
        state = Mutex(State(queues: TransmitQueues(policies: policies)))
    }

    /// The way to the backend.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped`, or `connectionLost` while the peripheral is off the air.
    func link() throws(PeripheralError) -> any BackendLink {
        let (link, isStopped) = state.withLock { ($0.linkOnTheAir, $0.isStopped) }
        guard !isStopped else { throw .stopped }
        guard let link else { throw .offTheAir }
        return link
    }

    /// How the backend knows what has left.
    var pacing: UpdatePacing { state.withLock(\.pacing) }

    func begin(_ published: PublishedPeripheral) {
        state.withLock { state in
            if !state.isStopped { (state.link, state.isOffTheAir) = (published.link, false) }
            state.pacing = published.pacing
            state.queues.window = max(published.window, 1)
        }
        // A central may have subscribed before, and a value be on its way to it.
        for update in change({ $0.indications.due }) { sendIndication(update) }
    }

    /// Takes note that the backend is off the air: what is under way has lost its centrals, and what comes meets none.
    func suspend() {
        let indicating = state.withLock { state in
            for timer in state.timers.values { timer.cancel() }
            state.timers = [:]
            state.isOffTheAir = true
            state.indications = IndicationQueues()
            defer { state.indicating = [:] }
            return state.indicating.values
        }
        // Also one for all: nobody can confirm it any more.
        for caller in indicating { caller.resume(returning: .failure(PeripheralError.disconnected)) }
        change { state in
            state.queues.suspended()
            state.outgoing = []
        }
    }

    /// Sends away all who wait, and stops the backend; later calls have no effect.
    func stop() {
        let (waiting, link) = state.withLock { state in
            for transfer in state.transfers { transfer.report.end(.failure(PeripheralError.stopped)) }
            state.transfers = []
            state.isStopped = true
            for timer in state.timers.values { timer.cancel() }
            state.timers = [:]
            state.outgoing = []
            // The link keeps the backend, which keeps those who serve it.
            defer { (state.callers, state.indicating, state.link) = ([:], [:], nil) }
            return (Array(state.callers.values) + state.indicating.values, state.link)
        }
        for caller in waiting { caller.resume(returning: .failure(PeripheralError.stopped)) }
        link?.stop()
    }

    /// Takes note of what is known of a central.
    func connected(_ central: Central) {
        change { $0.queues.connected(central) }
    }

    /// Takes note of a subscription.
    func subscribed(_ subscription: BackendSubscription) {
        let next = change { state -> [Update] in
            if let central = subscription.central {
                state.queues.connected(central)
            }
            state.queues.subscribed(
                subscription.central?.id,
                to: subscription.characteristic,
                isAddressable: subscription.isAddressable,
                sharesUpdatesForAll: subscription.sharesUpdatesForAll,
                takesIndications: subscription.kind != .notification
            )
            // Only now, when it is known that these are of the subscription that has ended with this.
            state.withdrawOutgoing()
            return state.withdrawIndications()
        }
        for update in next { sendIndication(update) }
    }

    /// Takes note of what has changed about a subscription.
    func changed(_ subscription: BackendSubscription) {
        change {
            $0.queues.changed(
                subscription.central?.id,
                of: subscription.characteristic,
                isAddressable: subscription.isAddressable,
                takesIndications: subscription.kind != .notification
            )
        }
    }

    /// Takes note of the end of a subscription.
    func unsubscribed(_ characteristic: AttributeHandle, by central: Central.ID?) {
        change { $0.queues.unsubscribed(central, from: characteristic) }
    }

    /// Takes note that the stack has taken an update, which has not left yet.
    func taken(_ id: Update.ID) {
        change { $0.queues.taken(id) }
    }

    /// Finds the updates that are not to be sent any more, although they were submitted.
    func whichAreOver(_ updates: [Update]) -> Set<Update.ID> {
        state.withLock { state in
            var over: Set<Update.ID> = []
            for update in updates where state.queues.isOver(update.id) { over.insert(update.id) }
            return over
        }
    }

    /// Takes note of how updates have ended.
    func ended(_ updates: [(Update.ID, UpdateOutcome)]) {
        let hasIndications = change { state in
            for (id, outcome) in updates { state.queues.ended(id, outcome.result, isKnown: outcome.isKnown) }
            return !state.indications.isEmpty
        }
        guard hasIndications else { return }
        for (id, outcome) in updates { indicationEnded(id, outcome) }
    }

    private func indicationEnded(_ id: Update.ID, _ outcome: UpdateOutcome) {
        let (caller, next) = state.withLock { state in
            state.timers.removeValue(forKey: id)?.cancel()
            return (state.indicating.removeValue(forKey: id), state.indications.ended(id))
        }
        caller?.resume(returning: outcome.result.mapError { $0 })
        for update in next { sendIndication(update) }
    }

    /// Takes note that a central is gone, and with it what was for it.
    func disconnected(_ central: Central.ID) {
        let (callers, next) = change { state in
            state.queues.disconnected(central)
            let (dropped, next) = state.indications.disconnected(central)
            let callers = dropped.compactMap { id in
                state.timers.removeValue(forKey: id)?.cancel()
                // What has not been handed on is heard of by nobody else.
                state.queues.ended(id, .failure(.disconnected))
                return state.indicating.removeValue(forKey: id)
            }
            return (callers, next)
        }
        for caller in callers { caller.resume(returning: .failure(PeripheralError.disconnected)) }
        for update in next { sendIndication(update) }
    }
}

extension UpdateOutcome {
    fileprivate var isKnown: Bool {
        if case .givenUp = self { false } else { true }
    }

    fileprivate var result: Result<Void, PeripheralError> {
        switch self {
        case .delivered, .givenUp: .success(())
        case .failed(let error): .failure(error)
        }
    }
}
