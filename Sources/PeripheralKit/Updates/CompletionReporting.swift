/// How the completion of updates is known, which determines how many are in flight at a time.
///
/// A Bluetooth stack may accept any number of values and hold them until the link has carried them, which can
/// take minutes. To be recent on arrival, a value waits in the queue of its ``UpdatePolicy`` until earlier
/// values have left the device.
public enum CompletionReporting: Hashable, Sendable {
    /// The completion of each update is observed.
    ///
    /// Only as many updates are in flight to each central as the stack should hold at a time. If the stack
    /// reaches all subscribers only together, each further characteristic adds a few.
    case observed

    /// Completion is estimated from the total that the device has sent.
    ///
    /// Other traffic and interruptions of links make the estimate less precise. As many updates may be in
    /// flight to one central as to all centrals together with ``observed``. Some of them may be in flight
    /// once more for each time that a link has just been silent.
    case estimated

    /// Completion is not reported.
    ///
    /// An update counts as completed when a slow link would have carried it, or when its central has shown
    /// that it has arrived. If the backend has no send rate, an update counts as completed as soon as the
    /// stack has accepted it.
    case unknown
}

extension PeripheralSession {
    /// How the completion of updates is known at present.
    ///
    /// It may change when the peripheral is published again after it was off the air.
    public var completionReporting: CompletionReporting { runtime.updates.completionReporting }
}
