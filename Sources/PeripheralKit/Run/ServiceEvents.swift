private import Synchronization

/// The events for a service.
///
/// The first call returns all events since the run began, because the work of a service begins a moment
/// later.
final class ServiceEvents: Sendable {
    private let runtime: PeripheralRuntime
    private let first: Mutex<AsyncStream<SessionEvent>?>

    init(_ runtime: PeripheralRuntime) {
        self.runtime = runtime
        first = Mutex(runtime.listen(asService: true))
    }

    /// Drops the retained events of a service that has never asked for them.
    func end() {
        first.withLock { $0 = nil }
    }

    func listen() -> AsyncStream<SessionEvent> {
        first.withLock { $0.take() } ?? runtime.listen(asService: true)
    }
}
