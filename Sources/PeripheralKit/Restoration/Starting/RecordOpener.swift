/// Opens the record of a store that was not available at first.
///
/// `RecordOpener` tries to open the record after 1, 2, 4, … 60 seconds, and at the end of the session.
struct RecordOpener: Sendable {
    /// The outcome of the attempts.
    enum Outcome {
        /// The record of the restoration identifier is open and empty.
        case opened(any RestorationRecord)
        /// The record contains preserved state that the next run can restore.
        ///
        /// The current run must not replace this state.
        case occupied(any RestorationRecord)
        /// The framework can neither read nor rename the data in the record.
        ///
        /// The current run must not replace this data.
        case blocked(RestorationError)
        /// The session ended before the framework could open the record.
        case ended
    }

    private static let longestDelay = Duration.seconds(60)

    /// Opens the record, or throws.
    let open: @Sendable () async throws(RestorationError) -> any RestorationRecord
    let stopwatch: Stopwatch
    /// Ends the wait for the next attempt when the session is over.
    let wakeup: Wakeup

    /// Tries to open the record until there is an outcome.
    ///
    /// - Parameters:
    ///   - isStopping: Whether the next attempt is the last.
    ///   - failed: Receives the error of each failed attempt.
    ///   - met: Receives a problem with unusable contents of the record.
    /// - Returns: The outcome.
    func open(
        isStopping: () -> Bool,
        failed: (RestorationError) -> Void,
        met: (RestorationProblem) -> Void
    ) async -> Outcome {
        var delay = Duration.seconds(1)
        while true {
            let due = stopwatch.elapsed() + delay
            while !isStopping(), stopwatch.elapsed() < due {
                await wakeup.wait(atMost: due - stopwatch.elapsed(), by: stopwatch)
            }
            let isLast = isStopping()
            do throws(RestorationError) {
                return try await examine(try await open(), met)
            } catch {
                failed(error)
            }
            guard !isLast else { return .ended }
            delay = min(delay * 2, Self.longestDelay)
        }
    }

    /// Looks for the preserved state of an earlier run.
    ///
    /// The peripheral has begun without that state, with other values and perhaps other handles. A save would
    /// overwrite the earlier state.
    ///
    /// - Throws: `unreadable` when a later attempt may succeed.
    private func examine(
        _ record: any RestorationRecord,
        _ met: (RestorationProblem) -> Void
    ) async throws(RestorationError) -> Outcome {
        var found = Findings(record: record)
        try await found.load()
        for problem in found.problems { met(problem) }
        if let failure = found.failure { return .blocked(failure) }
        return found.loaded == nil ? .opened(record) : .occupied(record)
    }
}
