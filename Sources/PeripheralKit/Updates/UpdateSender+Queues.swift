internal import PeripheralCore
internal import Synchronization

extension UpdateSender {
    /// Offers a value, which is refused when there is no room for it.
    func update(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: Update.Recipients
    ) throws(PeripheralError) -> Bool {
        try offer { $0.queues.offer(value, of: characteristic, to: recipients) }
    }

    /// Offers a value for several subscribers.
    func update(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        toEach centrals: [Central.ID]
    ) throws(PeripheralError) -> Bool {
        try offer { $0.queues.offer(value, of: characteristic, toEach: centrals) }
    }

    private func offer(
        _ offer: (inout State) -> TransmitQueues.Answer
    ) throws(PeripheralError) -> Bool {
        let answer = change { $0.isStopped ? .failed(.stopped) : offer(&$0) }
        switch answer {
        case .accepted: return true
        case .full: return false
        case .failed(let error): throw error
        }
    }

    /// Queues a value as soon as there is room for it, and waits until the stack has taken it, or it has left.
    func notify(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: Update.Recipients,
        untilLeft isUntilLeft: Bool = false,
        mustReach: Set<Central.ID> = []
    ) async throws {
        try await wait { queues, ticket in
            queues.wait(
                ticket,
                for: characteristic,
                to: recipients,
                with: value,
                untilLeft: isUntilLeft,
                mustReach: mustReach
            )
        }
    }

    /// Whether each subscriber of a characteristic is sent by itself what is for all, as far as the backend has told.
    func reachesEach(_ characteristic: AttributeHandle) -> Bool {
        state.withLock { $0.queues.reachesEach(characteristic) }
    }

    /// Waits until there is room for a value.
    func ready(_ characteristic: AttributeHandle, for recipients: Update.Recipients) async throws {
        try await wait { queues, ticket in
            queues.wait(ticket, for: characteristic, to: recipients, with: nil)
        }
    }

    /// Waits until what is queued for a central by now, and what is on its way to it, has left.
    func untilAllHasLeft(for central: Central.ID) async throws {
        try await wait { queues, ticket in queues.waitForClearance(ticket, of: central) }
    }

    /// The queues at this moment; none when stopped.
    var reports: [TransmitQueues.Report] {
        state.withLock { $0.isStopped ? [] : $0.queues.reports }
    }

    /// All values since the beginning; none when stopped.
    var totals: [TransmitQueues.Total] {
        state.withLock { $0.isStopped ? [] : $0.queues.totals }
    }

    /// How many calls wait.
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
                    if state.cancelled.remove(ticket) != nil { return CancellationError() }
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
        state.withLock { _ = $0.cancelled.remove(ticket) }
        try outcome.get()
    }

    private func cancel(_ ticket: TransmitQueues.Ticket) {
        let caller = state.withLock { state -> Caller? in
            guard let caller = state.callers[ticket] else {
                state.cancelled.insert(ticket)
                return nil
            }
            guard state.queues.cancel(ticket) else { return nil }
            state.callers[ticket] = nil
            return caller
        }
        caller?.resume(returning: .failure(CancellationError()))
        // Others may have been behind it.
        change { _ in }
    }

    /// Changes something, and does what follows from that.
    @discardableResult
    func change<Answer, Failure: Error>(
        _ change: (inout State) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let (answer, first, news) = try state.withLock { state throws(Failure) in
            let answer = try change(&state)
            let outcome = state.queues.takeOutcome(at: stopwatch.elapsed, updates: &state.outgoing)
            let news = outcome.map { state.news(in: $0) }
            return (answer, state.isHandingOn ? nil : state.takeOutgoing(), news)
        }
        news?.tell()
        handOn(first)
        for update in news?.indications ?? [] { sendIndication(update) }
        return answer
    }

    /// Hands the updates on to the backend, one thread at a time, so that they keep their order.
    ///
    /// The backend may answer before it returns, which leads back to here.
    private func handOn(_ next: consuming State.Outgoing?) {
        while var outgoing = next.take() {
            outgoing.link.submit(all: outgoing.updates)
            outgoing.updates.removeAll(keepingCapacity: true)
            next = state.withLock { $0.takeOutgoing(reusing: outgoing.updates) }
        }
    }
}

extension UpdateSender.State {
    /// What there is to tell to those who wait, and the indications whose turn it is.
    fileprivate mutating func news(in outcome: TransmitQueues.Outcome) -> UpdateNews {
        UpdateNews(
            progress: outcome.progress.map { (report($0.0), $0.1) },
            answers: outcome.answers.map { (callers.removeValue(forKey: $0.0), report($0.0), $0.1) },
            indications: outcome.indications.compactMap { indications.submit($0) }
        )
    }

    private func report(_ ticket: TransmitQueues.Ticket) -> TransferReport? {
        transfers.first { $0.ticket == ticket }?.report
    }

    mutating func makeTicket() -> TransmitQueues.Ticket {
        defer { nextTicket += 1 }
        return nextTicket
    }

    /// Takes back what has not been handed on and is for a subscription that is over, so that it does not come to the next.
    mutating func withdrawOutgoing() {
        let over = outgoing.filter { queues.isOver($0.id) }.map(\.id)
        guard !over.isEmpty else { return }
        outgoing.removeAll { over.contains($0.id) }
        for id in over { queues.ended(id, .failure(.notSubscribed)) }
    }

    /// Takes back the parts of documents that wait for their turn among the indications, for the same reason.
    ///
    /// - Returns: The indications to send next.
    mutating func withdrawIndications() -> [Update] {
        let (withdrawn, next) = indications.withdrawDocuments { [queues] in queues.isOver($0) }
        for id in withdrawn { queues.ended(id, .failure(.notSubscribed)) }
        return next
    }

    /// What goes through the link next, by whoever takes it.
    ///
    /// - Parameter memory: An empty array, for those that come next.
    /// - Returns: `nil` when there is nothing, or no link.
    fileprivate mutating func takeOutgoing(reusing memory: [Update] = []) -> Outgoing? {
        isHandingOn = !outgoing.isEmpty && linkOnTheAir != nil
        guard isHandingOn, let link else {
            if outgoing.isEmpty { outgoing = memory }
            return nil
        }
        defer { outgoing = memory }
        return Outgoing(link: link, updates: outgoing)
    }
}

/// What has become of what calls wait for, and what is to be sent besides the updates.
private struct UpdateNews {
    let progress: [(TransferReport?, TransferProgress)]
    let answers: [(UpdateSender.Caller?, TransferReport?, Result<Void, PeripheralError>)]
    let indications: [Update]

    func tell() {
        for (report, progress) in progress { report?.note(progress) }
        for (caller, report, result) in answers {
            caller?.resume(returning: result.mapError { $0 })
            report?.end(result.mapError { $0 })
        }
    }
}
