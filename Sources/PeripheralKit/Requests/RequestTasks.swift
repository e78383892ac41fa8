internal import Logging
internal import PeripheralCore
private import Synchronization

/// Runs the handlers of requests, each in a task of its own, and sees to it that each request is answered
/// exactly once and in time.
///
/// The tasks are owned here: ``end()`` cancels them and returns when none is left. A handler that takes too long is
/// answered for and cancelled; what it says afterwards is dropped.
final class RequestTasks: Sendable {
    private struct Entry {
        var request: RunningRequest
        /// When the answer is due, on the clock of ``Stopwatch``; `nil` when nobody waits for it.
        var due: Duration?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// The requests whose handlers run in place just now: most are done with before anybody needs to know more.
        var inPlace: [UInt64] = []
        var nextIdentifier: UInt64 = 0
        /// All entries before this one are answered, or have been answered for.
        var firstUnjudged: UInt64 = 0
        /// The requests whose centrals wait, without those in place.
        var unanswered: Set<UInt64> = []
        /// Who waits for the answers to all requests before a number.
        var waiters: [(before: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        /// Who waits for the end of all tasks.
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var isKeepingTime = false
        var isCancelled = false
        var isEnded = false

        var hasUnanswered: Bool { !unanswered.isEmpty || !inPlace.isEmpty }

        /// Gives a new request its number, unless there are to be no more.
        mutating func begin() -> UInt64? {
            guard !isEnded else { return nil }
            defer { nextIdentifier += 1 }
            return nextIdentifier
        }

        /// Takes note of a request that lasts, and tells whether the timekeeper has to be woken for it.
        mutating func keep(_ entry: Entry, as identifier: UInt64) -> Bool {
            entries[identifier] = entry
            guard entry.due != nil else { return false }
            unanswered.insert(identifier)
            firstUnjudged = min(firstUnjudged, identifier)
            defer { isKeepingTime = true }
            return !isKeepingTime
        }

        /// Takes note that a handler has ended.
        mutating func forget(_ identifier: UInt64) {
            if let index = inPlace.firstIndex(of: identifier) {
                inPlace.remove(at: index)
            } else {
                entries[identifier] = nil
                unanswered.remove(identifier)
            }
        }

        /// Tells who has waited for answers that are given by now, or for the end that has come.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            var ready: [CheckedContinuation<Void, Never>] = []
            if !waiters.isEmpty {
                let oldest = min(unanswered.min() ?? .max, inPlace.min() ?? .max)
                ready = waiters.filter { $0.before <= oldest }.map(\.continuation)
                waiters.removeAll { $0.before <= oldest }
            }
            if !endWaiters.isEmpty, entries.isEmpty, inPlace.isEmpty {
                ready += endWaiters
                endWaiters = []
            }
            return ready
        }
    }

    /// BlueZ gives up after 5 s and tells the central so, in its own way.
    static let timeLimit = Duration.seconds(4)

    let stopwatch: Stopwatch
    private let logger: Logger
    private let state = Mutex(State())
    private let (wakeUps, wakeUp) = AsyncStream.makeStream(
        of: Void.self,
        bufferingPolicy: .bufferingNewest(1)
    )

    init(clock: any Clock<Duration>, logger: Logger) {
        stopwatch = Stopwatch(clock)
        self.logger = logger
    }

    /// Runs the work and delivers its result, or the error of whoever is late.
    ///
    /// - Parameters:
    ///   - name: The attribute, for the log.
    ///   - isTimed: Whether the central waits for the answer.
    ///   - pace: What is known of the handler's speed, which decides where it runs.
    ///   - deliver: Takes the outcome; called once, from any thread, possibly before this function returns.
    ///   - work: Calls the handler.
    func start(
        _ name: String,
        isTimed: Bool,
        pace: HandlerPace = HandlerPace(),
        deliver: @escaping @Sendable (Answer.Outcome) -> Void,
        _ work: @escaping @Sendable () async -> Answer.Outcome
    ) {
        let request = RunningRequest(name: name, deliver: deliver)
        guard let identifier = beginInPlace(if: pace.isQuick) else {
            return startAway(request, isTimed: isTimed, pace: pace, work)
        }
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            preconditionFailure("nothing begins in place where tasks cannot")
        }
        let begin = ContinuousClock.now
        let task = Task.immediate { [self] in
            let isAnswer = request.answer(await work())
            finish(request, identifier, isAnswer: isAnswer)
        }
        let held = begin.duration(to: .now)
        pace.note(held)
        guard request.keep(task) else { return }
        let due = isTimed ? stopwatch.elapsed() + Self.timeLimit - held : nil
        lasts(Entry(request: request, due: due), identifier)
    }

    /// Gives a request its number, if its handler may begin in place.
    private func beginInPlace(if isQuick: Bool) -> UInt64? {
        guard isQuick, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return nil }
        return state.withLock { state in
            // A task that begins in place cannot be cancelled before.
            guard !state.isCancelled, let identifier = state.begin() else { return nil }
            state.inPlace.append(identifier)
            return identifier
        }
    }

    /// Takes note that a request in place has been suspended.
    private func lasts(_ entry: Entry, _ identifier: UInt64) {
        let (wakesTimekeeper, isCancelled, waiters) = state.withLock { state in
            // It may have ended meanwhile, on another thread.
            guard let index = state.inPlace.firstIndex(of: identifier) else {
                return (false, false, [CheckedContinuation<Void, Never>]())
            }
            state.inPlace.remove(at: index)
            // An answer that no central waits for is not waited for by others either.
            return (state.keep(entry, as: identifier), state.isCancelled, state.takeWaiters())
        }
        for waiter in waiters { waiter.resume() }
        if isCancelled { entry.request.cancel() }
        if wakesTimekeeper { wakeUp.yield() }
    }

    private func startAway(
        _ request: RunningRequest,
        isTimed: Bool,
        pace: HandlerPace,
        _ work: @escaping @Sendable () async -> Answer.Outcome
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
        // Not under the lock: the handler may be done with, and come for the lock, before it is released here.
        let task = Task { [self] in
            let begin = ContinuousClock.now
            let result = await work()
            pace.note(begin.duration(to: .now))
            finish(request, begun.identifier, isAnswer: request.answer(result))
        }
        _ = request.keep(task)
        if begun.wakesTimekeeper { wakeUp.yield() }
    }

    private func finish(_ request: RunningRequest, _ identifier: UInt64, isAnswer: Bool) {
        let waiters = state.withLock { state in
            state.forget(identifier)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
        if !isAnswer {
            logger.warning(
                "A handler has answered too late; its answer is dropped.",
                metadata: ["peripheral.attribute": .bounded(request.name)]
            )
        }
    }

    /// Returns when all requests so far are answered whose centrals wait; in time, since no answer comes later than
    /// its limit.
    func untilAnswered() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.hasUnanswered { state.waiters.append((state.nextIdentifier, continuation)) }
                return !state.hasUnanswered
            }
            if isIdle { continuation.resume() }
        }
    }
}

// MARK: - Time

extension RequestTasks {
    /// Answers for handlers that are late, until the calling task is cancelled.
    func keepTime() async {
        for await _ in wakeUps {
            while let due = nextDue() {
                let wait = due - stopwatch.elapsed()
                if wait > .zero {
                    guard (try? await stopwatch.sleep(wait)) != nil else { return }
                }
                answerForLateHandlers()
            }
        }
    }

    /// When the oldest answer is due; with none to come, the timekeeper has to be woken for the next.
    private func nextDue() -> Duration? {
        state.withLock { state in
            while state.firstUnjudged < state.nextIdentifier {
                if let due = state.entries[state.firstUnjudged]?.due { return due }
                state.firstUnjudged += 1
            }
            state.isKeepingTime = false
            return nil
        }
    }

    private func answerForLateHandlers() {
        let now = stopwatch.elapsed()
        while let due = nextDue(), due <= now {
            let (identifier, judged) = state.withLock { state in
                defer { state.firstUnjudged += 1 }
                return (state.firstUnjudged, state.entries[state.firstUnjudged])
            }
            guard let request = judged?.request, request.answerForHandler() else { continue }
            logger.warning(
                "A handler has not answered in time; the central is told 'unlikely error'.",
                metadata: ["peripheral.attribute": .bounded(request.name)]
            )
            request.cancel()
            let waiters = state.withLock { state in
                state.unanswered.remove(identifier)
                return state.takeWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }
}

// MARK: - End

extension RequestTasks {
    /// Cancels the handlers that run, and those that are still to come.
    func cancelAll() {
        let entries = state.withLock { state in
            state.isCancelled = true
            return Array(state.entries.values)
        }
        for entry in entries { entry.request.cancel() }
    }

    /// Cancels the handlers that still run, and returns when all have ended; none is started any more.
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
