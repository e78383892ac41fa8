internal import PeripheralCore
private import Synchronization

/// Sends updates through the backend, and awaits what becomes of them.
final class UpdateSender: Sendable {
    private struct State {
        /// The way to the backend, also while that is off the air.
        var link: (any BackendLink)?
        var isOffTheAir = true
        var isStopped = false
        var nextNumber: UInt64 = 0
        var indications = IndicationQueues()
        /// Who waits for the end of an update.
        var waiting: [Update.ID: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
        /// The indications whose callers were cancelled before they could wait.
        var abandoned: Set<Update.ID> = []
        /// What ends an indication that nobody confirms.
        var timers: [Update.ID: Task<Void, Never>] = [:]
        /// The updates that have a place in the slots, and for whom they are.
        var withSlot: [Update.ID: Update.Recipients] = [:]

        /// The way for updates.
        var linkOnTheAir: (any BackendLink)? { isOffTheAir ? nil : link }

        mutating func makeID() -> Update.ID {
            defer { nextNumber += 1 }
            return Update.ID(nextNumber)
        }
    }

    /// A central that does not confirm an indication within this time is lost (Core Specification, Vol 3, Part F,
    /// 3.3.3).
    static let confirmationLimit = Duration.seconds(30)

    private let clock: any Clock<Duration>
    /// How many updates the backend may have at a time that it has not yet delivered.
    private let slots = Slots(count: 64)
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) {
        self.clock = clock
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

    func begin(_ link: any BackendLink) {
        state.withLock { state in
            if !state.isStopped { (state.link, state.isOffTheAir) = (link, false) }
        }
    }

    /// Takes note that the backend is off the air: what is under way has lost its centrals, and what comes meets none.
    func suspend() {
        let (waiting, notifications) = state.withLock { state in
            for timer in state.timers.values { timer.cancel() }
            state.timers = [:]
            state.isOffTheAir = true
            state.indications = IndicationQueues()
            defer { (state.waiting, state.withSlot) = ([:], [:]) }
            return (state.waiting, state.withSlot)
        }
        for _ in notifications { slots.leave() }
        for (id, caller) in waiting {
            // An indication that nobody can confirm any more has failed, also one for all.
            let outcome = notifications[id].map { Self.outcome(withoutBackendFor: $0) }
            caller.resume(returning: outcome ?? .failure(PeripheralError.disconnected))
        }
    }

    /// What becomes of an update that meets no backend.
    private static func outcome(withoutBackendFor recipients: Update.Recipients) -> Result<Void, any Error> {
        switch recipients {
        case .subscribers: .success(())
        case .central: .failure(PeripheralError.disconnected)
        }
    }

    /// Sends away all who wait, and stops the backend; later calls have no effect.
    func stop() {
        slots.close()
        let (waiting, link) = state.withLock { state in
            state.isStopped = true
            for timer in state.timers.values { timer.cancel() }
            state.timers = [:]
            // The link keeps the backend, which keeps those who serve it.
            defer { (state.waiting, state.link) = ([:], nil) }
            return (state.waiting.values, state.link)
        }
        for caller in waiting { caller.resume(returning: .failure(PeripheralError.stopped)) }
        link?.stop()
    }

    /// Sends an update as soon as there is room for it, and waits until the stack has taken it.
    func notify(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: Update.Recipients
    ) async throws {
        try await slots.enter()
        let outcome = await withCheckedContinuation { continuation in
            let (update, link, isStopped) = state.withLock { state in
                let id = state.makeID()
                if state.linkOnTheAir != nil {
                    state.withSlot[id] = recipients
                    state.waiting[id] = continuation
                }
                let update = Update(
                    id: id,
                    characteristic: characteristic,
                    value: value,
                    recipients: recipients
                )
                return (update, state.linkOnTheAir, state.isStopped)
            }
            if let link { return link.submit(update) }
            slots.leave()
            continuation.resume(
                returning: isStopped
                    ? .failure(PeripheralError.stopped) : Self.outcome(withoutBackendFor: recipients)
            )
        }
        try outcome.get()
    }

    /// Sends an update when it is its turn, and waits until it is confirmed.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic, by its value handle.
    ///   - value: The value.
    ///   - recipients: Who gets it.
    ///   - centrals: Who that is, as far as is known.
    /// - Throws: ``PeripheralError``, or `CancellationError`.
    func indicate(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: Update.Recipients,
        reaching centrals: [Central.ID]
    ) async throws {
        try Task.checkCancellation()
        let update = Update(
            id: state.withLock { $0.makeID() },
            characteristic: characteristic,
            value: value,
            recipients: recipients,
            awaitsConfirmation: true
        )
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { begin(update, reaching: centrals, for: $0) }
        } onCancel: {
            cancel(update.id)
        }
        _ = state.withLock { $0.abandoned.remove(update.id) }
        try outcome.get()
    }

    private func begin(
        _ update: Update,
        reaching centrals: [Central.ID],
        for caller: CheckedContinuation<Result<Void, any Error>, Never>
    ) {
        let (first, outcome) = state.withLock { state -> (Update?, Result<Void, any Error>?) in
            if state.abandoned.remove(update.id) != nil { return (nil, .failure(CancellationError())) }
            guard !state.isStopped else { return (nil, .failure(PeripheralError.stopped)) }
            guard state.linkOnTheAir != nil else {
                return (nil, Self.outcome(withoutBackendFor: update.recipients))
            }
            state.waiting[update.id] = caller
            return (state.indications.submit(update, reaching: centrals), nil)
        }
        if let outcome { caller.resume(returning: outcome) }
        if let first { send(first) }
    }

    /// Sends an indication whose turn it is.
    private func send(_ update: Update) {
        let timer = Task { [clock] in
            guard (try? await clock.sleep(for: Self.confirmationLimit)) != nil else { return }
            giveUp(update.id)
        }
        let link = state.withLock { state -> (any BackendLink)? in
            guard let link = state.linkOnTheAir else { return nil }
            state.timers[update.id] = timer
            return link
        }
        guard let link else { return timer.cancel() }
        link.submit(update)
    }

    /// Takes note of how an update has ended.
    func ended(_ id: Update.ID, _ outcome: UpdateOutcome) {
        if state.withLock({ $0.withSlot.removeValue(forKey: id) != nil }) { slots.leave() }
        let (caller, next) = state.withLock { state in
            state.timers.removeValue(forKey: id)?.cancel()
            return (state.waiting.removeValue(forKey: id), state.indications.ended(id))
        }
        caller?.resume(returning: outcome.result)
        for update in next { send(update) }
    }

    /// Sends the caller away; an indication that was sent stays outstanding until it has ended.
    private func cancel(_ id: Update.ID) {
        let (caller, next) = state.withLock { state in
            let caller = state.waiting.removeValue(forKey: id)
            if caller == nil { state.abandoned.insert(id) }
            return (caller, state.indications.withdraw(id))
        }
        caller?.resume(returning: .failure(CancellationError()))
        for update in next { send(update) }
    }

    /// Sends the caller away, since nobody confirms; the backend knows when the indication has ended.
    private func giveUp(_ id: Update.ID) {
        let (caller, link) = state.withLock { state in
            state.timers[id] = nil
            return (state.waiting.removeValue(forKey: id), state.link)
        }
        caller?.resume(returning: .failure(PeripheralError.unconfirmed))
        link?.abandon(id)
    }

    /// Takes note that a central is gone, and with it the indications to it.
    func disconnected(_ central: Central.ID) {
        let (callers, next) = state.withLock { state in
            let (dropped, next) = state.indications.disconnected(central)
            let callers = dropped.compactMap { id in
                state.timers.removeValue(forKey: id)?.cancel()
                return state.waiting.removeValue(forKey: id)
            }
            return (callers, next)
        }
        for caller in callers { caller.resume(returning: .failure(PeripheralError.disconnected)) }
        for update in next { send(update) }
    }
}

extension UpdateOutcome {
    fileprivate var result: Result<Void, any Error> {
        switch self {
        case .delivered: .success(())
        case .failed(let error): .failure(error)
        }
    }
}
