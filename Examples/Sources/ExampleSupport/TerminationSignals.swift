import Dispatch
import Glibc

/// Runs the body, and requests a stop on `SIGINT`, on `SIGTERM`, or when the time is up.
///
/// The body then ends in an orderly way. If it has not ended 5 seconds later, it is cancelled.
package func withStopRequest(
    after limit: Duration?,
    _ body: @escaping @Sendable (_ stop: StopRequest) async throws -> Void
) async throws {
    try await withStopRequest(after: limit, on: terminationSignals(), body)
}

/// The `SIGINT` and `SIGTERM` signals, which no longer end the process automatically.
private func terminationSignals() -> AsyncStream<CInt> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number)
            // Only the handler keeps the source alive.
            source.setEventHandler { [source] in
                continuation.yield(number)
                withExtendedLifetime(source) {}
            }
            source.resume()
        }
    }
}
