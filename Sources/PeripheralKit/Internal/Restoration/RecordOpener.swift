/// Opens the record that could not be opened when the peripheral began: after 1, 2, 4, … 60 seconds, and at the end.
struct RecordOpener: Sendable {
    /// What comes of it.
    enum Outcome {
        /// The record, with nothing in it.
        case opened(any RestorationRecord)
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
    ///   - setAside: Told of what was there, and had to go.
    /// - Returns: What has come of it.
    func open(
        isStopping: () -> Bool,
        failed: (RestorationError) -> Void,
        setAside: (RestorationProblem) -> Void
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
                return await empty(record, setAside)
            } catch {
                failed(error)
            }
            guard !isLast else { return .ended }
            delay = min(delay * 2, Self.longestDelay)
        }
    }

    /// Gets what is there out of the way: the peripheral has begun without it.
    private func empty(
        _ record: any RestorationRecord,
        _ setAside: (RestorationProblem) -> Void
    ) async -> Outcome {
        let reason: RestorationError
        do throws(RestorationError) {
            guard try await record.load() != nil else { return .opened(record) }
            reason = RestorationError(
                code: .unreadable,
                message: "What is preserved could not be opened when the peripheral began."
            )
        } catch {
            reason = error
        }
        do throws(RestorationError) {
            setAside(RestorationProblem(.restore, reason, setAside: try await record.setAside()))
            return .opened(record)
        } catch {
            await record.close()
            return .blocked(error)
        }
    }
}
