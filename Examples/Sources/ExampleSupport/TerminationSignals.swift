import Dispatch
import Glibc

/// Runs the body, and requests that it stops on `SIGINT`, on `SIGTERM`, or when the time is up.
///
/// The body then ends in its own time, and in order. One that has not ended 5 seconds later is cancelled.
package func withStopRequest(
    after limit: Duration?,
    _ body: @escaping @Sendable (_ stop: StopRequest) async throws -> Void
) async throws {
    try await withStopRequest(after: limit, on: terminationSignals(), body)
}

/// The arrivals of `SIGINT` and `SIGTERM`, which no longer end the process by themselves.
private func terminationSignals() -> AsyncStream<CInt> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number)
            // The handler keeps the source alive, which nothing else does.
            source.setEventHandler { [source] in
                continuation.yield(number)
                withExtendedLifetime(source) {}
            }
            source.resume()
        }
    }
}
