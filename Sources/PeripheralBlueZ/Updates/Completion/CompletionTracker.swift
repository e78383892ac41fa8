internal import PeripheralDBus
internal import PeripheralKit

/// A way to find out when updates are completed, that is, have left the device.
///
/// bluetoothd does not report that: its queues have no bound, and it takes every update that it is given.
/// A tracker reports each update that it is told of when the update is taken, and again when it is completed.
///
/// Belongs to the event loop.
protocol CompletionTracker: AnyObject {
    /// How the tracker knows what is completed.
    var completionReporting: CompletionReporting { get }

    /// Records that bluetoothd is being given an update.
    func willSend(_ update: BackendUpdate, to centrals: [Central.ID])

    /// Records that bluetoothd was not given an update after all.
    func withdraw(_ update: BackendUpdate.ID)

    /// Records whether socket or bus have taken an update, and reports it.
    func taken(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome)

    /// Records a request of a central that expects a response.
    func received(_ request: CompletionPace.Request, from central: Central.ID)

    /// Records that an indication is confirmed by all.
    func confirmed(_ update: BackendUpdate.ID)

    /// Ends what was in flight to a central that has disconnected, and reports it.
    func disconnected(_ central: Central.ID)

    /// Stops tracking; nothing is reported any more.
    func end()
}

/// The one timer of a tracker, which runs only while something is in flight.
///
/// Belongs to the event loop.
final class CompletionTimer {
    private let turns: DaemonTurns
    private var source: LoopSource?

    init(in turns: DaemonTurns) {
        self.turns = turns
    }

    var isSet: Bool { source != nil }

    func set(after interval: Duration, _ body: @escaping () -> Void) {
        source = turns.schedule(after: interval) { [weak self] in
            self?.source = nil
            body()
        }
    }

    func cancel() {
        source?.cancel()
        source = nil
    }
}
