internal import Logging
internal import PeripheralCore
private import Synchronization

/// Runs the handlers of requests in separate tasks, and answers each request exactly once and in time.
///
/// This object owns the tasks. ``end()`` cancels the tasks and returns when all of them have ended. If a
/// handler takes too long, its task is cancelled, and its request is refused. A later answer of that handler
/// is dropped.
final class RequestTasks: Sendable {
    private struct Entry {
        var request: RunningRequest
        /// The time at which the answer is due, by ``Stopwatch``; `nil` if the central does not wait for the
        /// answer.
        var due: Duration?
    }

    /// A call that waits for the answers to all requests before a number.
    private struct Waiter {
        var before: UInt64
        /// The attributes of these requests; `nil` for all attributes.
        var attributes: ClosedRange<AttributeHandle>?
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// The requests whose handlers currently run in place, on the delivering thread.
        ///
        /// Most of these handlers end before an entry is needed.
        var inPlace: [(identifier: UInt64, attribute: AttributeHandle?)] = []
        var nextIdentifier: UInt64 = 0
        /// The number of the first entry that may be unanswered.
        ///
        /// All earlier entries have been answered, either by their handlers or because they were late.
        var firstUnjudged: UInt64 = 0
        /// The requests that centrals wait for, except the requests in place.
        var unanswered: Set<UInt64> = []
        /// The calls that wait for the answers to all requests before a number.
        var waiters: [Waiter] = []
        /// The calls that wait for the end of all tasks.
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var isKeepingTime = false
        var isCancelled = false
        var isEnded = false

        /// Returns the first request that a central waits for.
        func firstUnanswered(of attributes: ClosedRange<AttributeHandle>?) -> UInt64? {
            guard let attributes else {
                return [unanswered.min(), inPlace.map(\.identifier).min()].compactMap(\.self).min()
            }
            let running = inPlace.filter { $0.attribute.map(attributes.contains) == true }
            return
                (running.map(\.identifier)
                + unanswered.filter { entries[$0]?.request.attribute.map(attributes.contains) == true }).min()
        }

        /// Returns the number of a new request; `nil` after the end.
        mutating func begin() -> UInt64? {
            guard !isEnded else { return nil }
            defer { nextIdentifier += 1 }
            return nextIdentifier
        }

        /// Records a request that continues, and returns whether the timekeeper must be woken for it.
        mutating func keep(_ entry: Entry, as identifier: UInt64) -> Bool {
            entries[identifier] = entry
            guard entry.due != nil else { return false }
            unanswered.insert(identifier)
            firstUnjudged = min(firstUnjudged, identifier)
            defer { isKeepingTime = true }
            return !isKeepingTime
        }

        /// Returns the time at which the oldest answer is due.
        mutating func firstDue() -> Duration? {
            while firstUnjudged < nextIdentifier {
                if let due = entries[firstUnjudged]?.due { return due }
                firstUnjudged += 1
            }
            return nil
        }

        /// Returns the oldest unjudged request if it is late, and records that it is judged.
        mutating func takeLate(at now: Duration) -> (identifier: UInt64, request: RunningRequest)? {
            guard let due = firstDue(), due <= now, let request = entries[firstUnjudged]?.request else {
                return nil
            }
            defer { firstUnjudged += 1 }
            return (firstUnjudged, request)
        }

        /// Records that a handler has ended.
        mutating func forget(_ identifier: UInt64) {
            if let index = inPlace.firstIndex(where: { $0.identifier == identifier }) {
                inPlace.remove(at: index)
            } else {
                entries[identifier] = nil
                unanswered.remove(identifier)
            }
        }

        /// Removes and returns the calls whose wait is over.
        ///
        /// Either the awaited answers have been delivered, or all tasks have ended.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            var ready: [CheckedContinuation<Void, Never>] = []
            if !waiters.isEmpty {
                let state = self
                func isOver(_ waiter: Waiter) -> Bool {
                    waiter.before <= state.firstUnanswered(of: waiter.attributes) ?? .max
                }
                ready = waiters.filter(isOver).map(\.continuation)
                waiters.removeAll(where: isOver)
            }
            if !endWaiters.isEmpty, entries.isEmpty, inPlace.isEmpty {
                ready += endWaiters
                endWaiters = []
            }
            return ready
        }
    }

    /// The maximum time that a handler can take to answer.
    ///
    /// A Bluetooth stack may refuse the request after 5 s with another error.
    static let timeLimit = Duration.seconds(4)

    let stopwatch: Stopwatch
    private let deadlines: Deadlines
    private let logger: Logger
    private let state = Mutex(State())

    init(clock: any Clock<Duration>, logger: Logger) {
        stopwatch = Stopwatch(clock)
        deadlines = Deadlines(by: stopwatch)
        self.logger = logger
    }

    /// Runs the work and delivers its result, or an error if the result is late.
    ///
    /// - Parameters:
    ///   - name: The attribute, for the log.
    ///   - operation: The operation, such as `read`, for the log.
    ///   - attribute: The handle of the attribute; `nil` for a question that concerns no attribute.
    ///   - central: The central that sent the request, for the log.
    ///   - isTimed: Whether the central waits for the answer.
    ///   - pace: The known speed of the handler, which determines where it runs.
    ///   - deliver: Receives the outcome. The closure is called once, from any thread, possibly before this
    ///     function returns.
    ///   - work: Calls the handler.
    func start(
        _ name: String,
        _ operation: StaticString = "request",
        of attribute: AttributeHandle? = nil,
        by central: Central.ID? = nil,
        isTimed: Bool,
        pace: HandlerPace = HandlerPace(),
        deliver: @escaping @Sendable (BackendAnswer.Outcome) -> Void,
        _ work: @escaping @Sendable () async -> BackendAnswer.Outcome
    ) {
        let request = RunningRequest(
            name: name,
            operation: operation,
            of: attribute,
            by: central,
            deliver: deliver
        )
        guard let identifier = beginInPlace(request, if: pace.isQuick) else {
            return startAway(request, isTimed: isTimed, pace: pace, work)
        }
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            preconditionFailure("nothing begins in place where tasks cannot")
        }
        let begin = ContinuousClock.now
        let due = isTimed ? stopwatch.elapsed() + Self.timeLimit : nil
        let task = Task.immediate { [self] in
            let outcome = await work()
            finish(request, identifier, with: outcome, due: due)
        }
        let held = begin.duration(to: .now)
        pace.note(held)
        request.note(.hasSuspended)
        if held >= Self.timeLimit { reportBlocking(by: request) }
        guard request.keep(task) else { return }
        lasts(Entry(request: request, due: due), identifier)
    }

    /// Reports a handler that has blocked the delivering thread, even if it has answered in the meantime.
    func reportBlocking(by request: RunningRequest) {
        logger.warning(
            """
            A handler blocked its thread for more than 4 seconds. Other requests had to wait. Use await instead of calls \
            that block.
            """,
            metadata: request.logMetadata
        )
    }

    /// Returns the number of a request whose handler begins in place; `nil` if the handler may not begin in
    /// place.
    private func beginInPlace(_ request: RunningRequest, if isQuick: Bool) -> UInt64? {
        guard isQuick, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return nil }
        return state.withLock { state in
            // A task that begins in place cannot be cancelled before it begins.
            guard !state.isCancelled, let identifier = state.begin() else { return nil }
            state.inPlace.append((identifier, request.attribute))
            return identifier
        }
    }

    /// Records that a request in place has suspended.
    private func lasts(_ entry: Entry, _ identifier: UInt64) {
        let (wakesTimekeeper, isCancelled, waiters) = state.withLock { state in
            // Meanwhile, the request may have ended on another thread.
            guard let index = state.inPlace.firstIndex(where: { $0.identifier == identifier }) else {
                return (false, false, [CheckedContinuation<Void, Never>]())
            }
            state.inPlace.remove(at: index)
            // The waiters do not wait for an answer that no central waits for.
            return (state.keep(entry, as: identifier), state.isCancelled, state.takeWaiters())
        }
        for waiter in waiters { waiter.resume() }
        if isCancelled { entry.request.cancel() }
        if wakesTimekeeper { deadlines.wake() }
    }

    private func startAway(
        _ request: RunningRequest,
        isTimed: Bool,
        pace: HandlerPace,
        _ work: @escaping @Sendable () async -> BackendAnswer.Outcome
    ) {
        let due = isTimed ? stopwatch.elapsed() + Self.timeLimit : nil
        let begun = state.withLock {
            state -> (identifier: UInt64, wakesTimekeeper: Bool, isCancelled: Bool)? in
            guard let identifier = state.begin() else { return nil }
            let wakesTimekeeper = state.keep(Entry(request: request, due: due), as: identifier)
            return (identifier, wakesTimekeeper, state.isCancelled)
        }
        guard let begun else {
            _ = request.answer(.failure(.unlikelyError))
            return
        }
        if begun.isCancelled { request.cancel() }
        // Not under the lock: the handler may finish and need the lock before it is released here.
        let task = Task { [self] in
            let begin = ContinuousClock.now
            let result = await Self.run(work, for: request)
            pace.note(begin.duration(to: .now))
            finish(request, begun.identifier, with: result, due: due)
        }
        _ = request.keep(task)
        if begun.wakesTimekeeper { deadlines.wake() }
    }

    /// Runs the work, and notes its first suspension.
    private static func run(
        _ work: @escaping @Sendable () async -> BackendAnswer.Outcome,
        for request: RunningRequest
    ) async -> BackendAnswer.Outcome {
        request.note(.holdsThread)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return await work() }
        // A child task, so that it is cancelled with its parent even before its first suspension.
        return await withTaskGroup(of: BackendAnswer.Outcome.self) { group in
            group.addImmediateTask { await work() }
            request.note(.hasSuspended)
            return await group.next() ?? .failure(.unlikelyError)
        }
    }

    /// Delivers the outcome of a handler unless it is late, and forgets the request.
    private func finish(
        _ request: RunningRequest,
        _ identifier: UInt64,
        with outcome: BackendAnswer.Outcome,
        due: Duration?
    ) {
        // While handlers block all threads, the timekeeper cannot refuse the request in time.
        if let due, due <= stopwatch.elapsed() {
            refuse(request, "No thread was free to refuse it earlier. Use await instead of calls that block.")
        }
        // Before the request is forgotten: the end of the run waits for it, and then ends the log.
        if !request.answer(outcome) {
            logger.debug(
                "The handler of a refused request has ended. Its answer is dropped.",
                metadata: request.logMetadata
            )
        }
        let waiters = state.withLock { state in
            state.forget(identifier)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until all earlier requests that centrals wait for are answered.
    ///
    /// The wait is limited, because each request is answered within the time limit.
    ///
    /// - Parameter attributes: The attributes of these requests; `nil` for all attributes.
    func untilAnswered(of attributes: ClosedRange<AttributeHandle>? = nil) async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.firstUnanswered(of: attributes) != nil else { return true }
                state.waiters.append(
                    Waiter(before: state.nextIdentifier, attributes: attributes, continuation: continuation)
                )
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}

// MARK: - Time

extension RequestTasks {
    /// Answers the requests of late handlers until the calling task is cancelled.
    func runDeadlines() async {
        await deadlines.run(next: nextDue, passed: answerForLateHandlers)
    }

    /// Returns the time at which the oldest answer is due.
    ///
    /// If no answer is due, the timekeeper must be woken for the next request.
    private func nextDue() -> Duration? {
        state.withLock { state in
            let due = state.firstDue()
            state.isKeepingTime = due != nil
            return due
        }
    }

    private func answerForLateHandlers(at now: Duration) {
        while let (identifier, request) = state.withLock({ $0.takeLate(at: now) }) {
            guard refuse(request, request.reasonForDelay) else { continue }
            let waiters = state.withLock { state in
                state.unanswered.remove(identifier)
                return state.takeWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Answers the request of a late handler and cancels the handler.
    ///
    /// - Returns: Whether the request was unanswered.
    @discardableResult
    private func refuse(_ request: RunningRequest, _ reason: Logger.MetadataValue) -> Bool {
        guard request.answerForHandler() else { return false }
        logger.warning(
            """
            A handler did not answer within 4 seconds. The request is refused with 'unlikely error', and the handler is \
            cancelled.
            """,
            metadata: request.logMetadata.merging(["peripheral.reason": reason]) { $1 }
        )
        request.cancel()
        return true
    }
}

// MARK: - End

extension RequestTasks {
    /// Cancels running handlers and all later handlers.
    func cancelAll() {
        let entries = state.withLock { state in
            state.isCancelled = true
            return Array(state.entries.values)
        }
        for entry in entries { entry.request.cancel() }
    }

    /// Cancels running handlers, starts no further handlers, and waits until all handlers have ended.
    func end() async {
        state.withLock { $0.isEnded = true }
        cancelAll()
        await withCheckedContinuation { continuation in
            let waiters = state.withLock { state in
                state.endWaiters.append(continuation)
                return state.takeWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }
}
