/// Opens the record that could not be opened when the peripheral began: after 1, 2, 4, … 60 seconds, and at the end.
struct RecordOpener: Sendable {
    /// What comes of it.
    enum Outcome {
        /// The record, with nothing in it.
        case opened(any RestorationRecord)
        /// The record, with a state that the next run can begin with, and that has to stay until then.
        case occupied(any RestorationRecord)
        /// Something is there that can be neither read nor set aside, and has to stay.
        case blocked(RestorationError)
        /// It could not be opened until the session was over.
        case ended
    }

    private static let longestDelay = Duration.seconds(60)

    /// Opens the record, or fails.
    let open: @Sendable () async throws(RestorationError) -> any RestorationRecord
    let stopwatch: Stopwatch
    /// Ends the wait for the next attempt when the session is over.
    let wakeup: Wakeup

    /// Tries until something comes of it.
    ///
    /// - Parameters:
    ///   - isStopping: Whether the next attempt is the last.
    ///   - failed: Told of each attempt that fails.
    ///   - met: Told of what was there, and cannot be used.
    /// - Returns: What has come of it.
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
                let record = try await open()
                return await examine(record, met)
            } catch {
                failed(error)
            }
            guard !isLast else { return .ended }
            delay = min(delay * 2, Self.longestDelay)
        }
    }

    /// Looks for what an earlier run has preserved.
    ///
    /// The peripheral has begun without it, with other values, and perhaps at other handles. To save over it would be to lose it.
    private func examine(_ record: any RestorationRecord, _ met: (RestorationProblem) -> Void) async
        -> Outcome
    {
        var found = Findings(record: record)
        await found.load()
        for problem in found.problems { met(problem) }
        if let failure = found.failure { return .blocked(failure) }
        return found.loaded == nil ? .opened(record) : .occupied(record)
    }
}
