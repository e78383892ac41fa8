internal import PeripheralCore
internal import Synchronization

extension UpdateSender {
    /// The time within which a central must confirm an indication (Core Specification, Vol 3, Part F, 3.3.3).
    static let confirmationLimit = Duration.seconds(30)

    /// Sends an indication at its turn, and waits until it is confirmed.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic, by its value handle.
    ///   - value: The value.
    ///   - recipients: The recipients.
    ///   - centrals: The recipients that are known.
    ///   - mustReach: The subscribers that a value for all must reach.
    /// - Throws: ``PeripheralError``, or `CancellationError`.
    func indicate(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: BackendUpdate.Recipients,
        reaching centrals: [Central.ID],
        mustReach: Set<Central.ID> = []
    ) async throws {
        try Task.checkCancellation()
        let (id, lastSubscription) = state.withLock { ($0.queues.makeID(), $0.queues.lastSubscription) }
        let update = BackendUpdate(
            id: id,
            characteristic: characteristic,
            value: value,
            recipients: recipients,
            awaitsConfirmation: true,
            mustReach: mustReach,
            lastSubscription: lastSubscription
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
        _ update: BackendUpdate,
        reaching centrals: [Central.ID],
        for caller: Caller
    ) {
        let (first, outcome) = state.withLock { state -> (BackendUpdate?, Result<Void, any Error>?) in
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

    /// Sends an indication whose turn it is.
    ///
    /// While the peripheral is off the air, the indication waits until the peripheral is on the air again.
    func sendIndication(_ update: BackendUpdate) {
        let timer = Task { [stopwatch] in
            guard (try? await stopwatch.sleep(Self.confirmationLimit)) != nil else { return }
            giveUp(update.id)
        }
        var update = update
        let link = state.withLock { state -> (any BackendLink)? in
            guard let link = state.linkOnTheAir, state.indications.begin(update.id) else { return nil }
            state.timers[update.id] = timer
            state.queues.indicationHandedOn(update.id, at: stopwatch.elapsed())
            // All who are subscribed at its turn receive an indication for all.
            if update.recipients == .subscribers { update.lastSubscription = state.queues.lastSubscription }
            return link
        }
        guard let link else { return timer.cancel() }
        link.submit(update)
    }

    /// Ends the call.
    ///
    /// An indication that was sent stays outstanding until it has ended.
    private func cancel(_ id: BackendUpdate.ID) {
        let (caller, next) = state.withLock { state in
            let caller = state.indicating.removeValue(forKey: id)
            if caller == nil { state.abandoned.insert(id) }
            if state.indications.isWaiting(id) { state.queues.indicationEnded(id, .failure(.notSubscribed)) }
            return (caller, state.indications.withdraw(id))
        }
        caller?.resume(returning: .failure(CancellationError()))
        for update in next { sendIndication(update) }
    }

    /// Ends the call because no confirmation has arrived.
    ///
    /// The backend reports when the indication has ended.
    private func giveUp(_ id: BackendUpdate.ID) {
        let (caller, link) = state.withLock { state in
            state.timers[id] = nil
            return (state.indicating.removeValue(forKey: id), state.link)
        }
        caller?.resume(returning: .failure(PeripheralError.unconfirmed))
        // If the indication is a part of a document, the document has failed.
        change { $0.queues.ended(id, .failure(.unconfirmed)) }
        link?.abandon(id)
    }

    /// Returns the outcome of an update while there is no backend.
    private static func outcome(withoutBackendFor update: BackendUpdate) -> Result<Void, any Error> {
        switch update.recipients {
        case .subscribers where update.isForAllSubscribers: .success(())
        case .subscribers, .central: .failure(PeripheralError.disconnected)
        }
    }
}
