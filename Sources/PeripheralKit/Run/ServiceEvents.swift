private import Synchronization

/// The events of a session for one service.
///
/// The first call of ``listen()`` returns all events since the run began, because the work of a service
/// begins slightly later.
final class ServiceEvents: Sendable {
    private let runtime: PeripheralRuntime
    private let first: Mutex<AsyncStream<SessionEvent>?>

    init(_ runtime: PeripheralRuntime) {
        self.runtime = runtime
        first = Mutex(runtime.listen(asService: true))
    }

    /// Drops the retained events of a service that has never requested its events.
    func end() {
        first.withLock { $0 = nil }
    }

    func listen() -> AsyncStream<SessionEvent> {
        first.withLock { $0.take() } ?? runtime.listen(asService: true)
    }
}
