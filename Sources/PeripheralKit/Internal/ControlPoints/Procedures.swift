internal import Logging
internal import PeripheralCore
private import Synchronization

/// Runs the procedures of control points, each in a task of its own, and sends their responses.
///
/// The tasks are owned here: ``end()`` returns when none is left.
final class Procedures: Sendable {
    /// A request to a control point that a central makes.
    struct Request: Sendable {
        let number: ProcedureTable.Number
        let place: ProcedureTable.Place
        let content: ControlPointRequest
        let central: Central
        let session: PeripheralSession
        /// The attribute, for the log.
        let name: String
        /// How many bytes the response may have.
        let length: ValueLength
    }

    private struct State {
        var table = ProcedureTable()
        /// The requests that were taken up, and are not answered yet.
        var admitted: [ProcedureTable.Number: Request] = [:]
        var tasks: [ProcedureTable.Number: Task<Void, Never>] = [:]
        /// Those of them that have no response.
        var silent: Set<ProcedureTable.Number> = []
        /// Who waits until a place is free.
        var waiters: [ProcedureTable.Number: (place: ProcedureTable.Place, caller: Waiter)] = [:]
        /// Who waits for the end of all tasks.
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var isStopped = false
    }

    private typealias Waiter = CheckedContinuation<Void, Never>

    /// As long a request waits for one before it that only lacks the central's confirmation: this may come over another
    /// way than the request, and a little later.
    static let patience = Duration.seconds(1)

    private let stopwatch: Stopwatch
    private let logger: Logger
    private let state = Mutex(State())

    init(clock: any Clock<Duration>, logger: Logger) {
        stopwatch = Stopwatch(clock)
        self.logger = logger
    }

    /// Gives a new request its number; ``delivering(the:by:)`` has to follow.
    func makeNumber() -> ProcedureTable.Number {
        state.withLock { $0.table.makeNumber() }
    }

    /// Has the answer to a request delivered, and the procedure begin after that if the request was taken up.
    func delivering(
        the number: ProcedureTable.Number,
        by deliver: @escaping @Sendable (Answer.Outcome) -> Void
    ) -> @Sendable (Answer.Outcome) -> Void {
        { [self] outcome in
            guard case .success = outcome else {
                // Before the central knows of the refusal, after which it may ask again at once.
                drop(number)
                return deliver(outcome)
            }
            deliver(outcome)
            begin(number)
        }
    }

    /// Takes up a request that is to be answered now.
    ///
    /// - Throws: What the central is told why it may not be carried out.
    func admit(_ request: Request) async throws {
        guard
            !request.content.responds
                || request.session.runtime.isSubscribed(request.place.central, to: request.place.controlPoint)
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

    /// Carries out a request whose write has been answered.
    private func begin(_ number: ProcedureTable.Number) {
        let cancelled = state.withLock { state -> [Task<Void, Never>]? in
            // Whose request has no response needs not be there any more.
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
        await request.session.runtime.untilAnswersHaveLeft()
        if let response = await response(to: request) {
            // It takes a way of its own, and may be faster. Where this ends early, nobody waits for the response.
            try? await request.session.runtime.untilUpdatesHaveLeft(for: request.central.id)
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
            // A central that is gone by now needs no response.
            let reasons: [PeripheralError.Code] = [.disconnected, .notSubscribed, .stopped]
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
    /// Takes note that a procedure has ended, or does not begin.
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

    /// Waits until no other procedure is under way, as long as the patience lasts.
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

    /// Cancels the procedures of a central, or those of one control point.
    func cancel(for central: Central.ID, of controlPoint: AttributeHandle? = nil) {
        cancel { $0.central == central && (controlPoint == nil || $0.controlPoint == controlPoint) }
    }

    /// Cancels all procedures.
    func cancelAll() {
        cancel { _ in true }
    }

    /// Cancels the procedures that have no response, and waits until they have ended: what they have to do for others
    /// than their centrals takes the way to the backend.
    func finishSilent() async {
        let tasks = state.withLock { state in state.silent.compactMap { state.tasks[$0] } }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Cancels all procedures, and begins none any more.
    func stop() {
        state.withLock { $0.isStopped = true }
        cancelAll()
    }

    private func cancel(where isOver: (ProcedureTable.Place) -> Bool) {
        let tasks = state.withLock { state in
            state.table.cancel(where: isOver).compactMap { state.tasks[$0] }
        }
        // Not under the lock: this calls whoever wants to know of it.
        for task in tasks { task.cancel() }
    }

    /// Ends the procedures that still run.
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
