import Synchronization

/// A request to end the program, by `SIGINT`, `SIGTERM` or the end of `--duration`.
package struct StopRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let operations = Operations()
    private let continuation: AsyncStream<Void>.Continuation

    fileprivate init() {
        (requests, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    fileprivate func make() {
        continuation.yield()
    }

    /// Whether an operation is running that a stop request ends.
    fileprivate var endsAnOperation: Bool { operations.count.load(ordering: .relaxed) > 0 }

    /// Runs an operation, and cancels it when a stop is requested.
    ///
    /// Run one operation at a time.
    ///
    /// - Throws: The errors of the operation before a stop is requested.
    package func ends(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        operations.count.add(1, ordering: .relaxed)
        defer { operations.count.subtract(1, ordering: .relaxed) }
        try await withThrowingTaskGroup { group in
            group.addTask { try await operation() }
            group.addTask { for await _ in requests { return } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private final class Operations: Sendable {
        let count = Atomic(0)
    }
}

/// Runs the body, and requests a stop when a signal arrives or the time is up.
///
/// The body then ends in an orderly way. If it has not ended 5 seconds later, it is cancelled. If it runs no
/// operation that the stop ends, it is cancelled at once.
package func withStopRequest(
    after limit: Duration?,
    on signals: AsyncStream<CInt>,
    _ body: @escaping @Sendable (_ stop: StopRequest) async throws -> Void
) async throws {
    let stop = StopRequest()
    try await withThrowingTaskGroup { group in
        group.addTask { try await body(stop) }
        group.addTask {
            try await waitForEnd(of: limit, or: signals)
            let hasOperation = stop.endsAnOperation
            stop.make()
            if hasOperation { try await Task.sleep(for: .seconds(5)) }
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}

private func waitForEnd(of limit: Duration?, or signals: AsyncStream<CInt>) async throws {
    try await withThrowingTaskGroup { group in
        group.addTask { for await _ in signals { return } }
        if let limit {
            group.addTask { try await Task.sleep(for: limit) }
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}
