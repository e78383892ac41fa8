internal import PeripheralCore

/// A published peripheral during a run of the program.
///
/// The session is valid within the body closure of ``Peripheral/run(on:logger:_:)``. After the closure
/// returns, the functions of the session throw a ``PeripheralError`` with the code
/// ``PeripheralError/Code/stopped``.
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

    /// The state of the peripheral: the radio, the registration and the advertising.
    ///
    /// ``Peripheral/states`` reports changes. While the peripheral is not published, the session continues
    /// without centrals and subscriptions. While the peripheral is not published, the session does not send
    /// updates that are meant for all subscribers.
    public var state: PeripheralState { runtime.peripheralState.current }

    /// The events of the session, such as connections and subscriptions of centrals.
    ///
    /// Each call of `events` returns a separate sequence of the events that occur after the call. The
    /// sequence of events ends when the session ends. If a program does not consume the events, the session
    /// retains the newest 1024 events. The sequence from the first call of `events` also contains the events
    /// about the restored state, which occur before the session begins. A call of `events` by a service does
    /// not count as the first call (see ``GATTServiceDeclaration/run(in:)``).
    ///
    /// For the current state, read ``centrals`` and ``subscriptions``. To observe every change, call `events`
    /// before you read ``centrals`` and ``subscriptions``.
    public var events: some AsyncSequence<SessionEvent, Never> & Sendable {
        serviceEvents?.listen() ?? runtime.listen()
    }
}
