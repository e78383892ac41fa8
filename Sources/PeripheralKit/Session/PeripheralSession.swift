internal import PeripheralCore

/// A published peripheral, as the program uses it during a run.
///
/// The session is valid in the body of ``Peripheral/run(on:logger:_:)``. After that, its functions throw a
/// ``PeripheralError`` with the code ``PeripheralError/Code/stopped``.
public struct PeripheralSession: Sendable {
    let runtime: PeripheralRuntime

    /// The events since the run began, in a service's session; `nil` in the program's session.
    private let serviceEvents: ServiceEvents?

    /// Creates the session of the program.
    init(runtime: PeripheralRuntime) {
        self.runtime = runtime
        serviceEvents = nil
    }

    /// Creates the session of a service.
    ///
    /// The events of this session are independent of the program's events, and no event is missing.
    init(ofServiceIn runtime: PeripheralRuntime) {
        self.runtime = runtime
        serviceEvents = ServiceEvents(runtime)
    }

    /// Ends the events of the service when its work is done.
    func endServiceEvents() {
        serviceEvents?.end()
    }

    /// Whether the peripheral is on the air, and if not, the reason.
    ///
    /// ``Peripheral/states`` reports changes. While the peripheral is off the air, the session continues
    /// without centrals and subscriptions. During that time, updates to all subscribers are not sent.
    public var state: PeripheralState { runtime.peripheralState.current }

    /// The events from now on, such as connections and subscriptions of centrals.
    ///
    /// Each call returns a separate sequence that ends with the session. If a program does not consume its
    /// events, the newest 1024 events are retained. The first call also delivers earlier events about the
    /// restored state, because these events occur before the session begins. Calls of services do not count
    /// as the first call, see ``GATTServiceDeclaration/run(in:)``.
    ///
    /// For the present state, see ``centrals`` and ``subscriptions``. To miss no change, get the events
    /// before you read these properties.
    public var events: some AsyncSequence<SessionEvent, Never> & Sendable {
        serviceEvents?.listen() ?? runtime.listen()
    }
}
