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
        /// The handler's task; `nil` for the moment between its registration and its start.
        var task: Task<Void, Never>?
        var isCancelled = false
        /// When the answer is due, on the clock of ``Stopwatch``; `nil` when nobody waits for it.
        var due: Duration?
        /// Answers in place of the handler, and tells whether that was needed.
        var answerForHandler: @Sendable () -> Bool
        var name: String
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var nextIdentifier: UInt64 = 0
        /// All entries before this one are answered, or have been answered for.
        var firstUnjudged: UInt64 = 0
        /// The requests whose centrals wait.
        var unanswered: Set<UInt64> = []
        /// Who waits for the answers to all requests before a number.
        var waiters: [(before: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        /// Who waits for the end of all tasks.
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var isKeepingTime = false
        var isCancelled = false
        var isEnded = false

        /// Takes note of an answer, and tells who waits for it to have been the last.
        mutating func answered(_ identifier: UInt64) -> [CheckedContinuation<Void, Never>] {
            unanswered.remove(identifier)
            guard !waiters.isEmpty else { return [] }
            let oldest = unanswered.min() ?? .max
            defer { waiters.removeAll { $0.before <= oldest } }
            return waiters.filter { $0.before <= oldest }.map(\.continuation)
        }

        /// Who waits for the end of all tasks, when it has come.
        mutating func takeEndWaiters() -> [CheckedContinuation<Void, Never>] {
            guard entries.isEmpty else { return [] }
            defer { endWaiters = [] }
            return endWaiters
        }

        /// Marks all tasks as cancelled, and gives those that have started.
        mutating func cancelTasks() -> [Task<Void, Never>] {
            isCancelled = true
            for identifier in entries.keys { entries[identifier]?.isCancelled = true }
            return entries.values.compactMap(\.task)
        }
    }

    /// BlueZ gives up after 5 s and tells the central so, in its own way.
    static let timeLimit = Duration.seconds(4)

    private let stopwatch: Stopwatch
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
    ///   - deliver: Takes the answer; called once, from any thread.
    ///   - work: Calls the handler.
    func start<Success: Sendable>(
        _ name: String,
        isTimed: Bool,
        deliver: @escaping @Sendable (Result<Success, ATTError>) -> Void,
        _ work: @escaping @Sendable () async -> Result<Success, ATTError>
    ) {
        let answer = OneAnswer(deliver)
        let due = isTimed ? stopwatch.elapsed() + Self.timeLimit : nil
        let registration: (identifier: UInt64, wakesTimekeeper: Bool)? = state.withLock { state in
            guard !state.isEnded else { return nil }
            let identifier = state.nextIdentifier
            state.nextIdentifier += 1
            if isTimed { state.unanswered.insert(identifier) }
            state.entries[identifier] = Entry(
                isCancelled: state.isCancelled,
                due: due,
                answerForHandler: { answer.give(.failure(.unlikelyError)) },
                name: name
            )
            defer { if isTimed { state.isKeepingTime = true } }
            return (identifier, isTimed && !state.isKeepingTime)
        }
        guard let registration else {
            _ = answer.give(.failure(.unlikelyError))
            return
        }
        // Not under the lock: to start a task wakes a thread, and that thread may be done with the handler, and come
        // for the lock, before it is released here.
        let task = Task { [self] in
            let result = await work()
            finish(registration.identifier, isAnswer: answer.give(result))
        }
        let isCancelled = state.withLock { state in
            state.entries[registration.identifier]?.task = task
            return state.entries[registration.identifier]?.isCancelled ?? false
        }
        if isCancelled { task.cancel() }
        if registration.wakesTimekeeper { wakeUp.yield() }
    }

    private func finish(_ identifier: UInt64, isAnswer: Bool) {
        let (name, waiters) = state.withLock { state in
            let entry = state.entries.removeValue(forKey: identifier)
            var waiters = isAnswer ? state.answered(identifier) : []
            waiters += state.takeEndWaiters()
            return (entry?.name, waiters)
        }
        for waiter in waiters { waiter.resume() }
        if !isAnswer {
            logger.warning(
                "A handler has answered too late; its answer is dropped.",
                metadata: ["peripheral.attribute": "\(name ?? "")"]
            )
        }
    }

    /// Returns when all requests so far are answered whose centrals wait; in time, since no answer comes later than
    /// its limit.
    func untilAnswered() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.unanswered.isEmpty { state.waiters.append((state.nextIdentifier, continuation)) }
                return state.unanswered.isEmpty
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
            guard let entry = judged else { continue }
            guard entry.answerForHandler() else { continue }
            logger.warning(
                "A handler has not answered in time; the central is told 'unlikely error'.",
                metadata: ["peripheral.attribute": "\(entry.name)"]
            )
            entry.task?.cancel()
            for waiter in state.withLock({ $0.answered(identifier) }) { waiter.resume() }
        }
    }
}

// MARK: - End

extension RequestTasks {
    /// Cancels the handlers that run, and those that are still to come.
    func cancelAll() {
        let tasks = state.withLock { $0.cancelTasks() }
        for task in tasks { task.cancel() }
    }

    /// Cancels the handlers that still run, and returns when all have ended; none is started any more.
    func end() async {
        let tasks = state.withLock { state in
            state.isEnded = true
            return state.cancelTasks()
        }
        for task in tasks { task.cancel() }
        await withCheckedContinuation { continuation in
            let waiters = state.withLock { state in
                state.endWaiters.append(continuation)
                return state.takeEndWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }
}

/// A request's answer: the first that is given counts.
private final class OneAnswer<Success: Sendable>: Sendable {
    private let deliver: Mutex<(@Sendable (Result<Success, ATTError>) -> Void)?>

    init(_ deliver: @escaping @Sendable (Result<Success, ATTError>) -> Void) {
        self.deliver = Mutex(deliver)
    }

    /// Gives the answer, and tells whether it was the first.
    func give(_ result: Result<Success, ATTError>) -> Bool {
        guard let deliver = deliver.withLock({ $0.take() }) else { return false }
        deliver(result)
        return true
    }
}

/// A clock of any kind, as the time since it was started.
private struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }
}
