internal import Logging
internal import PeripheralCore
private import Synchronization

/// Runs the procedures of control points in separate tasks, and sends their responses.
///
/// This object owns the tasks. ``end()`` returns when all tasks have ended.
final class Procedures: Sendable {
    /// A central's request to a control point.
    struct Request: Sendable {
        let number: ProcedureTable.Number
        let place: ProcedureTable.Place
        let content: ControlPointRequest
        let central: Central
        let session: PeripheralSession
        /// The name of the attribute, for the log.
        let name: String
        /// The allowed length of the response.
        let length: ValueLength
    }

    private struct State {
        var table = ProcedureTable()
        /// The requests that the table has accepted, but that have not been answered yet.
        var admitted: [ProcedureTable.Number: Request] = [:]
        var tasks: [ProcedureTable.Number: Task<Void, Never>] = [:]
        /// The numbers of the tasks that send no response.
        var silent: Set<ProcedureTable.Number> = []
        /// The requests that wait until a place is free.
        var waiters: [ProcedureTable.Number: (place: ProcedureTable.Place, caller: Waiter)] = [:]
        /// The callers that wait for the end of all tasks.
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var isStopped = false
    }

    private typealias Waiter = CheckedContinuation<Void, Never>

    /// How long a request waits for an earlier request that lacks only the central's confirmation.
    ///
    /// The confirmation can arrive over another path than the next request, and slightly later.
    static let patience = Duration.seconds(1)

    private let stopwatch: Stopwatch
    private let logger: Logger
    private let state = Mutex(State())

    init(clock: any Clock<Duration>, logger: Logger) {
        stopwatch = Stopwatch(clock)
        self.logger = logger
    }

    /// Returns the number of a new request.
    ///
    /// Call ``delivering(the:by:)`` with this number next.
    func makeNumber() -> ProcedureTable.Number {
        state.withLock { $0.table.makeNumber() }
    }

    /// Returns a function that delivers the answer and then begins the procedure.
    ///
    /// The procedure begins only if the table has accepted the request.
    func delivering(
        the number: ProcedureTable.Number,
        by deliver: @escaping @Sendable (BackendAnswer.Outcome) -> Void
    ) -> @Sendable (BackendAnswer.Outcome) -> Void {
        { [self] outcome in
            guard case .success = outcome else {
                // This call precedes the refusal, because the central can send another request as soon as it
                // receives the refusal.
                drop(number)
                return deliver(outcome)
            }
            deliver(outcome)
            begin(number)
        }
    }

    /// Admits a request that is about to be answered.
    ///
    /// - Throws: The ATT error that refuses the request.
    func admit(_ request: Request) async throws {
        let subscriptions = request.session.runtime.register.subscriptions(to: request.place.controlPoint)
        guard
            !request.content.responds
                || subscriptions.contains(where: { $0.mayBe(of: request.place.central) })
        else {
            throw request.content.notSubscribed
        }
        if try !admitNow(request) {
            await untilFree(request)
            guard try admitNow(request) else { throw request.content.busy }
        }
        try await request.content.accept(request.central, request.session)
    }

    private func admitNow(_ request: Request) throws(ATTError) -> Bool {
        let admission = state.withLock { state in
            let admission = state.table.admit(
                request.number,
                at: request.place,
                isAbort: request.content.isAbort
            )
            if admission == .admitted { state.admitted[request.number] = request }
            return admission
        }
        switch admission {
        case .admitted: return true
        case .delayed: return false
        case .refused: throw request.content.busy
        }
    }

    /// Begins the procedure of a request that has been answered.
    private func begin(_ number: ProcedureTable.Number) {
        let cancelled = state.withLock { state -> [Task<Void, Never>]? in
            // A procedure without a response is performed even if the central has disconnected.
            guard let request = state.admitted.removeValue(forKey: number), !state.isStopped,
                let replaced = state.table.begin(number, evenIfCancelled: !request.content.responds)
            else { return nil }
            let earlier = replaced.compactMap { state.tasks[$0] }
            let task = Task { await run(request, after: earlier) }
            state.tasks[number] = task
            if !request.content.responds { state.silent.insert(number) }
            return state.table.isCancelled(number) ? [task] : earlier
        }
        guard let cancelled else { return drop(number) }
        for task in cancelled { task.cancel() }
    }

    private func run(_ request: Request, after earlier: [Task<Void, Never>]) async {
        for task in earlier { await task.value }
        await request.session.runtime.untilAnswersAreForwarded()
        if let response = await response(to: request) {
            // The response uses another path and could overtake earlier updates. If the wait fails, the
            // response is not needed.
            try? await request.session.runtime.untilUpdatesAreForwarded(for: request.central.id)
            if state.withLock({ $0.table.respond(request.number) }) { await send(response, to: request) }
        }
        drop(request.number)
    }

    private func response(to request: Request) async -> [UInt8]? {
        guard !Task.isCancelled || !request.content.responds else { return nil }
        do {
            let response = try await request.content.perform(request.central, request.session)
            guard let response, !request.length.allows(response.count) else { return response }
            log("returned a response with a length that is not declared", request, "\(response.count) bytes")
        } catch {
            if !Task.isCancelled { log("failed", request, "\(error)") }
        }
        return nil
    }

    private func send(_ response: [UInt8], to request: Request) async {
        let runtime = request.session.runtime
        do {
            do {
                try await runtime.respond(
                    response,
                    of: request.place.controlPoint,
                    to: .central(request.central.id)
                )
            } catch let error as PeripheralError where error.code == .notAddressable {
                try await runtime.respond(response, of: request.place.controlPoint, to: .subscribers)
            }
        } catch {
            // A central that has disconnected needs no response.
            let reasons: [PeripheralError.Code] = [.disconnected, .notSubscribed, .serviceRemoved, .stopped]
            if let error = error as? PeripheralError, !reasons.contains(error.code) {
                log("could not send its response", request, error.message)
            }
        }
    }

    private func log(_ event: String, _ request: Request, _ error: String) {
        let consequence = request.content.responds ? "; the central receives no response" : ""
        logger.warning(
            "A procedure of a control point \(event)\(consequence).",
            metadata: ["peripheral.attribute": .bounded(request.name), "peripheral.error": "\(error)"]
        )
    }
}

// MARK: - End

extension Procedures {
    /// Removes a procedure that has ended or does not begin, and resumes the requests that wait for it.
    private func drop(_ number: ProcedureTable.Number) {
        let waiters = state.withLock { state in
            state.table.end(number)
            state.admitted[number] = nil
            state.tasks[number] = nil
            state.silent.remove(number)
            var ready: [Waiter] = []
            for (number, waiter) in state.waiters where !state.table.isOccupied(waiter.place) {
                ready.append(waiter.caller)
                state.waiters[number] = nil
            }
            if state.isStopped, state.tasks.isEmpty {
                ready += state.endWaiters
                state.endWaiters = []
            }
            return ready
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no other procedure is at the place of the request, for at most `patience`.
    private func untilFree(_ request: Request) async {
        await withTaskGroup { group in
            group.addTask { await self.untilDropped(request) }
            group.addTask { [stopwatch] in try? await stopwatch.sleep(Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }

    private func untilDropped(_ request: Request) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let waits = state.withLock { state in
                    let waits = state.table.isOccupied(request.place) && !Task.isCancelled
                    if waits { state.waiters[request.number] = (request.place, caller) }
                    return waits
                }
                if !waits { caller.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: request.number) }?.caller.resume()
        }
    }

    /// Cancels the procedures of a central, either all or those of one control point.
    func cancel(for central: Central.ID, of controlPoint: AttributeHandle? = nil) {
        cancel { $0.central == central && (controlPoint == nil || $0.controlPoint == controlPoint) }
    }

    /// Cancels the procedures of the control points of a service that is about to be removed.
    func cancel(of handles: ClosedRange<AttributeHandle>) {
        cancel { handles.contains($0.controlPoint) }
    }

    /// Cancels all procedures.
    func cancelAll() {
        cancel { _ in true }
    }

    /// Cancels the procedures without a response, and waits until they have ended.
    ///
    /// Procedures without a response can have effects on other centrals, and the effects need the link to the
    /// backend.
    func finishSilent() async {
        let tasks = state.withLock { state in state.silent.compactMap { state.tasks[$0] } }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Cancels all procedures and refuses new procedures.
    func stop() {
        state.withLock { $0.isStopped = true }
        cancelAll()
    }

    private func cancel(where isOver: (ProcedureTable.Place) -> Bool) {
        let tasks = state.withLock { state in
            state.table.cancel(where: isOver).compactMap { state.tasks[$0] }
        }
        // Not under the lock, because cancellation handlers run here.
        for task in tasks { task.cancel() }
    }

    /// Cancels the running procedures and waits until they have ended.
    func end() async {
        stop()
        await withCheckedContinuation { caller in
            let isOver = state.withLock { state in
                if !state.tasks.isEmpty { state.endWaiters.append(caller) }
                return state.tasks.isEmpty
            }
            if isOver { caller.resume() }
        }
    }
}
