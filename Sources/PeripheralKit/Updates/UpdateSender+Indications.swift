internal import PeripheralCore
internal import Synchronization

extension UpdateSender {
    /// A central that does not confirm an indication within this time is lost (Core Specification, Vol 3, Part F,
    /// 3.3.3).
    static let confirmationLimit = Duration.seconds(30)

    /// Sends an update when it is its turn, and waits until it is confirmed.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic, by its value handle.
    ///   - value: The value.
    ///   - recipients: Who gets it.
    ///   - centrals: Who that is, as far as is known.
    ///   - mustReach: Who is not to be missed when it is for all.
    /// - Throws: ``PeripheralError``, or `CancellationError`.
    func indicate(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: Update.Recipients,
        reaching centrals: [Central.ID],
        mustReach: Set<Central.ID> = []
    ) async throws {
        try Task.checkCancellation()
        let update = Update(
            id: state.withLock { $0.queues.makeID() },
            characteristic: characteristic,
            value: value,
            recipients: recipients,
            awaitsConfirmation: true,
            mustReach: mustReach
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
        for caller: Caller
    ) {
        let (first, outcome) = state.withLock { state -> (Update?, Result<Void, any Error>?) in
            if state.abandoned.remove(update.id) != nil { return (nil, .failure(CancellationError())) }
            guard !state.isStopped else { return (nil, .failure(PeripheralError.stopped)) }
            guard state.linkOnTheAir != nil else {
                return (nil, Self.outcome(withoutBackendFor: update))
            }
            state.indicating[update.id] = caller
            let first = state.indications.submit(update, reaching: centrals)
            state.queues.willIndicate(update, hasToWait: first?.id != update.id, at: stopwatch.elapsed())
            return (first, nil)
        }
        if let outcome { caller.resume(returning: outcome) }
        if let first { sendIndication(first) }
    }

    /// Sends an indication whose turn it is; off the air, that is when it is on the air again.
    func sendIndication(_ update: Update) {
        let timer = Task { [stopwatch] in
            guard (try? await stopwatch.sleep(Self.confirmationLimit)) != nil else { return }
            giveUp(update.id)
        }
        let link = state.withLock { state -> (any BackendLink)? in
            guard let link = state.linkOnTheAir, state.indications.begin(update.id) else { return nil }
            state.timers[update.id] = timer
            state.queues.indicationHandedOn(update.id, at: stopwatch.elapsed())
            return link
        }
        guard let link else { return timer.cancel() }
        link.submit(update)
    }

    /// Sends the caller away; an indication that was sent stays outstanding until it has ended.
    private func cancel(_ id: Update.ID) {
        let (caller, next) = state.withLock { state in
            let caller = state.indicating.removeValue(forKey: id)
            if caller == nil { state.abandoned.insert(id) }
            if state.indications.isWaiting(id) { state.queues.indicationEnded(id, .failure(.notSubscribed)) }
            return (caller, state.indications.withdraw(id))
        }
        caller?.resume(returning: .failure(CancellationError()))
        for update in next { sendIndication(update) }
    }

    /// Sends the caller away, since nobody confirms; the backend knows when the indication has ended.
    private func giveUp(_ id: Update.ID) {
        let (caller, link) = state.withLock { state in
            state.timers[id] = nil
            return (state.indicating.removeValue(forKey: id), state.link)
        }
        caller?.resume(returning: .failure(PeripheralError.unconfirmed))
        // If it is a part of a document, that has failed by now.
        change { $0.queues.ended(id, .failure(.unconfirmed)) }
        link?.abandon(id)
    }

    /// What becomes of an update that meets no backend.
    private static func outcome(withoutBackendFor update: Update) -> Result<Void, any Error> {
        switch update.recipients {
        case .subscribers where update.isForWhoeverIsThere: .success(())
        case .subscribers, .central: .failure(PeripheralError.disconnected)
        }
    }
}
