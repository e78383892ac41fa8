internal import PeripheralDBus
internal import PeripheralKit

/// A way to find out when updates are completed, which means that they have left the device.
///
/// bluetoothd does not report the completion, because its queues have no bound and it accepts every update. A
/// tracker reports each recorded update twice: when bluetoothd has accepted the update, and when the update
/// is completed.
///
/// The tracker belongs to the event loop.
protocol CompletionTracker: AnyObject {
    /// The method by which the tracker determines which updates are completed.
    var completionReporting: CompletionReporting { get }

    /// Records that bluetoothd is about to receive an update.
    func willSend(_ update: BackendUpdate, to centrals: [Central.ID])

    /// Records that bluetoothd has not received an update.
    func withdraw(_ update: BackendUpdate.ID)

    /// Records whether the socket or the bus has accepted an update, and reports this.
    func taken(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome)

    /// Records a request of a central that expects a response.
    func received(_ request: CompletionPace.Request, from central: Central.ID)

    /// Records that all recipients have confirmed an indication.
    func confirmed(_ update: BackendUpdate.ID)

    /// Records that a central has connected.
    func connected(_ central: Central.ID)

    /// Ends the updates in flight to a disconnected central, and reports their ends.
    func disconnected(_ central: Central.ID)

    /// Stops tracking, so nothing is reported any more.
    func end()
}

extension CompletionTracker {
    func connected(_ central: Central.ID) {}
}

/// The single timer of a tracker, which runs only while updates are in flight.
///
/// The timer belongs to the event loop.
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
