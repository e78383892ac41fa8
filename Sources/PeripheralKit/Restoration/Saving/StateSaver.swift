internal import Logging
private import Synchronization

/// Saves the state of a running peripheral after changes, and resumes the calls that wait for a save.
///
/// Only ``keepSaving(_:)`` and these calls wait for the store.
final class StateSaver: Sendable {
    private struct State {
        var schedule: SavingSchedule
        /// The state in the store.
        var saved: PreservedState?
        /// The reason why there is no record.
        var failure: RestorationError?
        var isStopping = false
        /// Whether saving has ended.
        var isClosed = false
        var waiters: [(change: UInt64, continuation: CheckedContinuation<RestorationError?, Never>)] = []
        var statistics = RestorationStatistics()
        /// The kinds of failures that were logged since the last save.
        var reported: Set<RestorationError.Code> = []
        /// The listener that is called at each save.
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
    private let report: @Sendable (SessionEvent) -> Void
    private let wakeup = Wakeup()
    private let state: Mutex<State>

    /// - Parameters:
    ///   - start: The restored state.
    ///   - interval: The minimum time between two saves.
    ///   - stopwatch: The clock for this interval.
    ///   - logger: The log for failures.
    ///   - report: Reports an event to the program.
    init(
        _ start: RestorationStart,
        savingEvery interval: Duration,
        stopwatch: Stopwatch,
        logger: Logger,
        report: @escaping @Sendable (SessionEvent) -> Void
    ) {
        self.start = start
        self.stopwatch = stopwatch
        self.logger = logger
        self.report = report
        state = Mutex(
            State(
                schedule: SavingSchedule(interval: interval),
                saved: start.loaded,
                failure: start.failure
            )
        )
    }

    // MARK: Changes

    /// Records a change.
    ///
    /// Call it while no other task can see the change, and before ``wake()``.
    ///
    /// - Returns: The number of the change.
    @discardableResult
    func changed() -> UInt64 {
        let now = stopwatch.elapsed()
        return state.withLock { state in
            state.schedule.changed(at: now)
            return state.schedule.latest
        }
    }

    /// Wakes the task that saves.
    func wake() {
        wakeup.wake()
    }

    /// The number of the last saved change.
    var lastSaved: UInt64 { state.withLock { $0.schedule.saved } }

    /// Sets a listener that is called at each save, before waiting calls continue.
    func whenSaved(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Waits until all changes so far are saved.
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

    /// The number of saves and failures.
    var statistics: RestorationStatistics { state.withLock { $0.statistics } }

    // MARK: Saving

    /// Saves until ``stop()``, and then saves the remaining changes.
    ///
    /// - Parameter state: Returns the present state with all changes recorded so far.
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

    /// Ends ``keepSaving(_:)``.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            state.schedule.stop()
        }
        wake()
    }

    /// Returns the record.
    ///
    /// If it could not be opened, opening is tried again.
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
                report(.restorationFailed(RestorationProblem(.open, error)))
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
            // The saver holds the record, so that no other peripheral can use the identifier during the run.
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
            problem.logMessage,
            metadata: ["peripheral.reason": "\(problem)"]
        )
        report(.restorationFailed(problem))
    }

    private func save(_ preserved: PreservedState, to record: any RestorationRecord) async {
        guard preserved != state.withLock(\.saved) else { return noteSaved(preserved, byWriting: false) }
        do throws(RestorationError) {
            try await record.save(preserved.restorationState)
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
                state.reported = []
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
            // A failed save may nevertheless have been written.
            state.saved = nil
            return (state.takeWaiters(upTo: attempted), state.reported.insert(error.code).inserted)
        }
        if isNew {
            logger.warning(
                "The state of the peripheral cannot be saved. The peripheral tries again.",
                metadata: ["peripheral.reason": .bounded("\(error)", by: "\(error.code)")]
            )
        }
        report(.restorationFailed(RestorationProblem(.save, error)))
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
    fileprivate static let ended = RestorationError(
        code: .closed,
        message: "The run of the peripheral has ended."
    )
    fileprivate static let openedLate = RestorationError(
        code: .openedLate,
        message:
            "The preserved state could be opened only after the peripheral had begun without it. It stays as it is for the "
            + "next run, and nothing is preserved in this run. End the run and start it again to restore the state."
    )
}
