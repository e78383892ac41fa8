internal import Synchronization

/// The body of a run that a request to stop cancels.
final class StoppableBody: Sendable {
    private struct State {
        var hasBegun = false
        var isStopped = false
    }

    private let body: @Sendable (PeripheralSession) async throws -> Void
    private let state = Mutex(State())
    /// The end of this stream is the request to stop.
    private let (requests, request) = AsyncStream.makeStream(of: Never.self)

    init(_ body: @escaping @Sendable (PeripheralSession) async throws -> Void) {
        self.body = body
    }

    /// Whether a stop was requested.
    var isStopped: Bool { state.withLock(\.isStopped) }

    /// Cancels the body.
    ///
    /// A body that has not begun will not begin.
    ///
    /// - Returns: Whether the body has begun.
    func stop() -> Bool {
        let hasBegun = state.withLock { state in
            state.isStopped = true
            return state.hasBegun
        }
        request.finish()
        return hasBegun
    }

    /// Runs the body until it ends or a stop is requested.
    ///
    /// If a stop was requested before, the method returns immediately.
    ///
    /// - Throws: The error of the body. After a request to stop, an error that only reports the stop is not
    ///   thrown. The run then ends as if the body had returned.
    @Sendable func run(_ session: PeripheralSession) async throws {
        let begins = state.withLock { state in
            state.hasBegun = !state.isStopped
            return state.hasBegun
        }
        guard begins else { return }
        do {
            try await withThrowingTaskGroup { [body, requests] group in
                group.addTask { try await body(session) }
                group.addTask { for await _ in requests {} }
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        } catch let error where isStopped && error.isConsequenceOfEnd {
            // The request to stop has cancelled the body.
        }
    }
}
