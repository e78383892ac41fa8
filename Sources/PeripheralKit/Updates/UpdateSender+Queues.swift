internal import PeripheralCore
internal import Synchronization

extension UpdateSender {
    /// Offers a value, which is refused when there is no room for it.
    func update(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: UpdateRecipients,
        fallback: UpdateFallback = .none
    ) throws(PeripheralError) -> Bool {
        let answer: TransmitQueues.Answer = change { state in
            guard !state.isStopped else { return .failed(.stopped) }
            return state.queues.offer(value, of: characteristic, to: recipients, fallback: fallback)
        }
        switch answer {
        case .accepted: return true
        case .full: return false
        case .failed(let error): throw error
        }
    }

    /// Queues a value as soon as there is room.
    ///
    /// The call waits until the stack has accepted the value.
    func notify(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: UpdateRecipients,
        fallback: UpdateFallback = .none
    ) async throws {
        try await wait { queues, ticket in
            queues.wait(ticket, for: characteristic, to: recipients, fallback: fallback, with: value)
        }
    }

    /// Sends an indication at its turn, and waits until it is confirmed.
    func indicate(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: BackendUpdate.Recipients
    ) async throws {
        let now = stopwatch.elapsed()
        try await wait { queues, ticket in
            queues.indicate(ticket, value, of: characteristic, to: recipients, at: now)
        }
    }

    /// Waits until there is room for a value.
    func ready(
        _ characteristic: AttributeHandle,
        for recipients: UpdateRecipients,
        fallback: UpdateFallback = .none
    ) async throws {
        try await wait { queues, ticket in
            queues.wait(ticket, for: characteristic, to: recipients, fallback: fallback, with: nil)
        }
    }

    /// Waits until all values to a central, or to all centrals, have completed that are queued or in flight.
    func untilCompleted(for central: Central.ID?) async throws {
        try await wait { queues, ticket in queues.waitForBarrier(ticket, of: central) }
    }

    /// The present queues; empty when stopped.
    var reports: [QueueReport] {
        state.withLock { $0.isStopped ? [] : QueueReport.ofEachQueue(in: $0.queues) }
    }

    /// All values since the beginning; empty when stopped.
    var totals: [QueueReport] {
        state.withLock { $0.isStopped ? [] : QueueReport.ofEachCharacteristic(in: $0.queues) }
    }

    /// The number of waiting calls.
    var waiting: Int { state.withLock { $0.callers.count } }

    private func wait(
        _ enqueue: (inout TransmitQueues, TransmitQueues.Ticket) -> Void
    ) async throws {
        try Task.checkCancellation()
        let ticket = state.withLock { $0.makeTicket() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let refusal: (any Error)? = state.withLock { state in
                    if state.isStopped { return PeripheralError.stopped }
                    // The cancellation handler may have run before the call waited.
                    if Task.isCancelled { return CancellationError() }
                    state.callers[ticket] = caller
                    enqueue(&state.queues, ticket)
                    return nil
                }
                if let refusal { return caller.resume(returning: .failure(refusal)) }
                change { _ in }
            }
        } onCancel: {
            cancel(ticket)
        }
        try outcome.get()
    }

    private func cancel(_ ticket: TransmitQueues.Ticket) {
        let caller = state.withLock { state -> Caller? in
            guard state.callers[ticket] != nil, state.queues.cancel(ticket) else { return nil }
            return state.callers.removeValue(forKey: ticket)
        }
        caller?.resume(returning: .failure(CancellationError()))
        // Other calls may have waited behind this call.
        change { _ in }
    }

    /// Changes the state, carries out the effects of the change, and submits updates to the backend.
    ///
    /// One thread at a time submits updates, so that they keep their order. The backend may answer before it
    /// returns, which calls this function again.
    @discardableResult
    func change<Answer, Failure: Error>(
        _ change: (inout State) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        var (answer, outgoing, effects) = try state.withLock { state throws(Failure) in
            let answer = try change(&state)
            let outcome = state.queues.takeOutcome(
                at: stopwatch.elapsed,
                from: state.isStopped ? nil : retained,
                updates: &state.outgoing
            )
            let effects = outcome.map { state.effects(in: $0) }
            return (answer, state.isSubmitting ? nil : state.takeOutgoing(), effects)
        }
        effects?.report()
        if effects?.hasEarlierDeadline == true { deadlines.wake() }
        while var next = outgoing.take() {
            submit(next)
            next.updates.removeAll(keepingCapacity: true)
            outgoing = state.withLock { $0.takeOutgoing(reusing: next.updates) }
        }
        return answer
    }

    private func submit(_ outgoing: State.Outgoing) {
        if let activity, activity.isTracing { activity.trace(outgoing.updates) }
        outgoing.link.submit(all: outgoing.updates)
    }
}

extension UpdateSender.State {
    /// The results for waiting calls.
    fileprivate mutating func effects(in outcome: TransmitQueues.Outcome) -> UpdateEffects {
        UpdateEffects(
            progress: outcome.progress.map { (report($0.0), $0.1) },
            answers: outcome.answers.map { (callers.removeValue(forKey: $0.0), report($0.0), $0.1) },
            hasEarlierDeadline: outcome.hasEarlierDeadline
        )
    }

    private func report(_ ticket: TransmitQueues.Ticket) -> TransferReport? {
        transfers.first { $0.ticket == ticket }?.report
    }

    mutating func makeTicket() -> TransmitQueues.Ticket {
        defer { nextTicket += 1 }
        return nextTicket
    }

    /// Takes the next updates for the link.
    ///
    /// - Parameter memory: An empty array, for later updates.
    /// - Returns: `nil` when there are no updates, or no link.
    fileprivate mutating func takeOutgoing(reusing memory: [BackendUpdate] = []) -> Outgoing? {
        isSubmitting = !outgoing.isEmpty && linkOnTheAir != nil
        guard isSubmitting, let link else {
            if outgoing.isEmpty { outgoing = memory }
            return nil
        }
        defer { outgoing = memory }
        return Outgoing(link: link, updates: outgoing)
    }
}

/// The results for waiting calls.
private struct UpdateEffects {
    let progress: [(TransferReport?, TransferProgress)]
    let answers: [(UpdateSender.Caller?, TransferReport?, Result<Void, PeripheralError>)]
    let hasEarlierDeadline: Bool

    func report() {
        for (report, progress) in progress { report?.note(progress) }
        for (caller, report, result) in answers {
            caller?.resume(returning: result.mapError { $0 })
            report?.end(result.mapError { $0 })
        }
    }
}

// MARK: - Transfers

extension UpdateSender {
    /// Sends a document and waits until every recipient has received it.
    func transfer(
        _ document: Document,
        over characteristic: AttributeHandle,
        to recipients: UpdateRecipients,
        isStanding: Bool,
        _ progress: (TransferProgress) -> Void
    ) async throws {
        try Task.checkCancellation()
        let report = TransferReport()
        let ticket = try change { state throws(PeripheralError) in
            guard !state.isStopped else { throw PeripheralError.stopped }
            let ticket = state.makeTicket()
            state.transfers.append((ticket, report))
            state.queues.begin(ticket, document, of: characteristic, to: recipients, isStanding: isStanding)
            return ticket
        }
        defer {
            change { state in
                state.transfers.removeAll { $0.ticket == ticket }
                _ = state.queues.cancel(ticket)
            }
        }
        for await _ in report.signals {
            let (effects, outcome) = report.take()
            effects.forEach(progress)
            if let outcome { return try outcome.get() }
        }
        throw CancellationError()
    }
}
