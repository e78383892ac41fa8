private import Synchronization

/// The events that a service is told: the first time all since the run began, for its work begins a moment later.
final class ServiceEvents: Sendable {
    private let runtime: PeripheralRuntime
    private let first: Mutex<AsyncStream<SessionEvent>?>

    init(_ runtime: PeripheralRuntime) {
        self.runtime = runtime
        first = Mutex(runtime.listen(asService: true))
    }

    /// Keeps no events for a service that has never asked for them.
    func end() {
        first.withLock { $0 = nil }
    }

    func listen() -> AsyncStream<SessionEvent> {
        first.withLock { $0.take() } ?? runtime.listen(asService: true)
    }
}
