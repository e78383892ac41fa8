internal import PeripheralDBus
internal import PeripheralKit

/// Chooses the best ``CompletionTracker`` that the adapter allows, and passes all calls to this tracker.
///
/// Without a tracker, an update ends as soon as it is accepted. The object belongs to the event loop.
final class UpdateCompletion {
    private let context: CentralsContext
    private let devices: DeviceRegister
    private let sockets: SubscriberSockets
    private let kernelLinks: any KernelLinks
    private let fallbackRate: FallbackRate
    private let reporter: EventReporter
    private let turns: DaemonTurns
    private let loop: EventLoop
    private var tracker: (any CompletionTracker)?

    init(
        in context: CentralsContext,
        devices: DeviceRegister,
        sockets: SubscriberSockets,
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        reporter: EventReporter,
        turns: DaemonTurns,
        loop: EventLoop
    ) {
        (self.context, self.devices, self.sockets) = (context, devices, sockets)
        (self.kernelLinks, self.fallbackRate) = (kernelLinks, fallbackRate)
        (self.reporter, self.turns, self.loop) = (reporter, turns, loop)
    }

    /// The method that determines which updates are completed.
    var completionReporting: CompletionReporting { tracker?.completionReporting ?? .unknown }

    /// Begins to track the updates of an adapter, and ends earlier tracking.
    func begin(on adapter: ObjectPath) {
        end()
        tracker = observed(on: adapter) ?? estimated(on: adapter) ?? paced()
        for central in devices.connected { connected(central) }
    }

    func end() {
        tracker?.end()
        tracker = nil
    }

    /// Records that bluetoothd is about to receive an update through sockets.
    func willSend(_ update: BackendUpdate, by routes: [SocketRun.Route]) {
        tracker?.willSend(update, to: routes.map(\.socket.central))
    }

    /// Records that bluetoothd is about to receive an update.
    func willSend(_ update: BackendUpdate, to centrals: [Central.ID]) {
        tracker?.willSend(update, to: centrals)
    }

    /// Records that bluetoothd has not received an update.
    func withdraw(_ update: BackendUpdate.ID) {
        tracker?.withdraw(update)
    }

    /// Records and reports whether the socket or the bus has accepted an update.
    func taken(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome) {
        guard let tracker else { return reporter.ended(update, outcome) }
        tracker.taken(update, outcome)
    }

    /// Records a request of a central that expects a response.
    func received(_ request: CompletionPace.Request, from central: Central.ID) {
        tracker?.received(request, from: central)
    }

    /// Records that all recipients have confirmed an indication.
    func confirmed(_ update: BackendUpdate.ID) {
        tracker?.confirmed(update)
    }

    /// Records that a central has connected.
    func connected(_ central: Central.ID) {
        tracker?.connected(central)
    }

    /// Ends the updates in flight to a central that has disconnected.
    func disconnected(_ central: Central.ID) {
        tracker?.disconnected(central)
    }

    private func observed(on adapter: ObjectPath) -> (any CompletionTracker)? {
        // Without the handles on the air, the observed updates cannot be distinguished.
        guard context.abilities.reportsHandles else { return nil }
        return ObservedCompletion(
            on: adapter,
            in: context,
            devices: devices,
            kernelLinks: kernelLinks,
            reporter: reporter,
            turns: turns,
            loop: loop
        )
    }

    private func estimated(on adapter: ObjectPath) -> (any CompletionTracker)? {
        EstimatedCompletion(on: adapter, kernelLinks: kernelLinks, reporter: reporter, turns: turns)
    }

    private func paced() -> (any CompletionTracker)? {
        fallbackRate.interval.map {
            PacedCompletion(interval: $0, sockets: sockets, reporter: reporter, turns: turns)
        }
    }
}
