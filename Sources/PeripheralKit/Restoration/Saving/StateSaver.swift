internal import Logging
private import Synchronization

/// Saves the state of a running peripheral when it has changed, and tells those who wait for that.
///
/// Nothing here waits for the store but ``keepSaving(_:)`` and those who ask for it.
final class StateSaver: Sendable {
    private struct State {
        var schedule: SavingSchedule
        /// What is in the store.
        var saved: PreservedState?
        /// Why there is no record.
        var failure: RestorationError?
        var isStopping = false
        /// Nothing is saved any more.
        var isClosed = false
        var waiters: [(change: UInt64, continuation: CheckedContinuation<RestorationError?, Never>)] = []
        var statistics = RestorationStatistics()
        /// The kinds of failure that the log was told of since the last save.
        var told: Set<RestorationError.Code> = []
        /// Hears of each save.
        var listener: @Sendable () -> Void = {}

        mutating func takeWaiters(
            upTo change: UInt64
        ) -> [CheckedContinuation<RestorationError?, Never>] {
            let taken = waiters.filter { $0.change <= change }.map(\.continuation)
            waiters.removeAll { $0.change <= change }
            return taken
        }
    }

    private let start: RestorationStart
    private let stopwatch: Stopwatch
    private let logger: Logger
    private let tell: @Sendable (SessionEvent) -> Void
    private let wakeup = Wakeup()
    private let state: Mutex<State>

    /// - Parameters:
    ///   - start: What was found.
    ///   - interval: The shortest time between two saves.
    ///   - stopwatch: What measures that time.
    ///   - logger: Who is told of what fails.
    ///   - tell: Tells the program.
    init(
        _ start: RestorationStart,
        savingEvery interval: Duration,
        stopwatch: Stopwatch,
        logger: Logger,
        tell: @escaping @Sendable (SessionEvent) -> Void
    ) {
        self.start = start
        self.stopwatch = stopwatch
        self.logger = logger
        self.tell = tell
        state = Mutex(
            State(
                schedule: SavingSchedule(interval: interval),
                saved: start.loaded,
                failure: start.failure
            )
        )
    }

    // MARK: For those who change something

    /// Takes note of a change; to be called while nobody else can see it, before ``wake()``.
    ///
    /// - Returns: Its number.
    @discardableResult
    func changed() -> UInt64 {
        let now = stopwatch.elapsed()
        return state.withLock { state in
            state.schedule.changed(at: now)
            return state.schedule.latest
        }
    }

    /// Has it be looked at what is to be saved.
    func wake() {
        wakeup.wake()
    }

    /// The number of the last change that is saved.
    var lastSaved: UInt64 { state.withLock { $0.schedule.saved } }

    /// Has somebody hear of each save, before those who wait for it.
    func whenSaved(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Returns when all is saved that has changed so far.
    func flush() async throws(RestorationError) {
        if let failure = state.withLock(\.failure) { throw failure }
        let error = await withCheckedContinuation { continuation in
            let answer: RestorationError?? = state.withLock { state in
                let change = state.schedule.demand()
                guard state.schedule.saved < change else { return .some(nil) }
                guard !state.isClosed else { return .ended }
                state.waiters.append((change, continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) } else { wake() }
        }
        if let error { throw error }
    }

    /// How often it was saved, and how often not.
    var statistics: RestorationStatistics { state.withLock { $0.statistics } }

    // MARK: Saving

    /// Saves until ``stop()``, and then what is left.
    ///
    /// - Parameter state: What is the case, with all changes that were noted by then.
    func keepSaving(_ state: () -> PreservedState) async {
        guard let record = await record() else { return }
        while true {
            let now = stopwatch.elapsed()
            switch self.state.withLock({ $0.schedule.next(at: now) }) {
            case .save: await save(state(), to: record)
            case .wait(let due): await wakeup.wait(atMost: due - now, by: stopwatch)
            case .rest: await wakeup.wait()
            case .finish:
                end()
                return await record.close()
            }
        }
    }

    /// Has ``keepSaving(_:)`` end.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            state.schedule.stop()
        }
        wake()
    }

    /// The record; one that could not be opened is tried again.
    ///
    /// - Returns: `nil` when nothing is saved in this run.
    private func record() async -> (any RestorationRecord)? {
        if let record = start.record { return record }
        guard let reopen = start.reopen else { return nil }
        let opener = RecordOpener(open: reopen, stopwatch: stopwatch, wakeup: wakeup)
        let outcome = await opener.open(
            isStopping: { state.withLock(\.isStopping) },
            failed: { error in
                state.withLock { $0.statistics.failures += 1 }
                noteBlocked(error)
                tell(.restorationFailed(RestorationProblem(.open, error)))
            },
            met: report
        )
        switch outcome {
        case .opened(let record):
            state.withLock { $0.failure = nil }
            changed()
            return record
        case .occupied(let record):
            noteBlocked(.openedLate)
            report(RestorationProblem(.open, .openedLate))
            // Nobody else gets the identifier while the peripheral runs.
            while !state.withLock(\.isStopping) { await wakeup.wait() }
            await record.close()
            return nil
        case .blocked(let error):
            noteBlocked(error)
            return nil
        case .ended:
            return nil
        }
    }

    private func noteBlocked(_ error: RestorationError) {
        state.withLock { $0.failure = error }
    }

    private func report(_ problem: RestorationProblem) {
        logger.warning(
            "Something is amiss about the preserved state of the peripheral.",
            metadata: ["peripheral.reason": "\(problem)"]
        )
        tell(.restorationFailed(problem))
    }

    private func save(_ preserved: PreservedState, to record: any RestorationRecord) async {
        guard preserved != state.withLock(\.saved) else { return noteSaved(preserved, byWriting: false) }
        do throws(RestorationError) {
            try await record.save(preserved.document)
            noteSaved(preserved, byWriting: true)
        } catch {
            note(error)
        }
    }

    private func noteSaved(_ preserved: PreservedState, byWriting wasWritten: Bool) {
        let (waiters, listener) = state.withLock { state in
            state.schedule.succeeded()
            state.saved = preserved
            if wasWritten {
                state.statistics.saves += 1
                state.told = []
            }
            return (state.takeWaiters(upTo: state.schedule.saved), state.listener)
        }
        listener()
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    private func note(_ error: RestorationError) {
        let now = stopwatch.elapsed()
        let (waiters, isNew) = state.withLock { state in
            let attempted = state.schedule.failed(at: now)
            state.statistics.failures += 1
            // What has failed may have been written all the same.
            state.saved = nil
            return (state.takeWaiters(upTo: attempted), state.told.insert(error.code).inserted)
        }
        if isNew {
            logger.warning(
                "The state of the peripheral cannot be preserved; it is tried again.",
                metadata: ["peripheral.reason": .bounded("\(error)", by: "\(error.code)")]
            )
        }
        tell(.restorationFailed(RestorationProblem(.save, error)))
        for waiter in waiters { waiter.resume(returning: error) }
    }

    private func end() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.takeWaiters(upTo: .max)
        }
        for waiter in waiters { waiter.resume(returning: .ended) }
    }
}

extension RestorationError {
    fileprivate static let ended = RestorationError(code: .closed, message: "The peripheral has ended.")
    fileprivate static let openedLate = RestorationError(
        code: .openedLate,
        message:
            "What is preserved could be opened only after the peripheral had begun without it. It stays as it is for the "
            + "next run, and nothing is preserved in this one; end the run and start it again to continue from there."
    )
}
