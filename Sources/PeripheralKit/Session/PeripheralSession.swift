internal import PeripheralCore

/// A peripheral while it is published: what the program can do with it.
///
/// The session is valid in the body of ``Peripheral/run(on:logger:_:)``; afterwards its functions throw a
/// ``PeripheralError`` with the code ``PeripheralError/Code/stopped``.
public struct PeripheralSession: Sendable {
    let runtime: PeripheralRuntime

    /// The events since the run began, in the hands of a service; `nil` in those of the program.
    private let serviceEvents: ServiceEvents?

    /// The session as the program has it.
    init(runtime: PeripheralRuntime) {
        self.runtime = runtime
        serviceEvents = nil
    }

    /// The session as a service has it, which misses no event and takes none from the program.
    init(ofServiceIn runtime: PeripheralRuntime) {
        self.runtime = runtime
        serviceEvents = ServiceEvents(runtime)
    }

    /// Called when the service has no work any more.
    func endServiceEvents() {
        serviceEvents?.end()
    }

    /// Whether the peripheral is on the air at this moment, and if not, why; ``Peripheral/states`` tells changes.
    ///
    /// While it is off the air, the session goes on: there are no centrals and no subscriptions then, and updates to
    /// all subscribers go to nobody.
    public var state: PeripheralState { runtime.peripheralState.current }

    /// What happens from now on: centrals that come and go, and their subscriptions.
    ///
    /// Each call gives a sequence of its own; it ends with the session. A program that does not take its events gets
    /// the newest 1024 of them. The first call tells what has happened before to the state that was restored, too: that begins
    /// before the session does; the calls of services do not count for that, see ``GATTServiceDeclaration/run(in:)``. What is
    /// the case at a time is told by ``centrals`` and ``subscriptions``: ask for the events first, so as to miss nothing in
    /// between.
    public var events: some AsyncSequence<SessionEvent, Never> & Sendable {
        serviceEvents?.listen() ?? runtime.listen()
    }
}
