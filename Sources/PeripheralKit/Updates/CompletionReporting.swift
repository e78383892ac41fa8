/// The manner in which the completion of updates is known.
///
/// The manner determines how many updates are in flight at a time. A Bluetooth stack may accept any number of
/// values and send them minutes later. To send recent values, the session keeps a value in the queue of its
/// ``UpdatePolicy`` until earlier values have left the device.
public enum CompletionReporting: Hashable, Sendable {
    /// The completion of each update is observed.
    ///
    /// Only a few updates are in flight to each central at a time. If the stack reaches all subscribers only
    /// together, each further characteristic adds a few updates in flight.
    case observed

    /// Completion is estimated from the total amount of data that the device has sent.
    ///
    /// Other traffic and interruptions of links make the estimate less precise. With ``observed``, a certain
    /// number of updates may be in flight to all centrals together. With `estimated`, the same number may be
    /// in flight to a single central. Each time that a link has just been silent, some further updates may be
    /// in flight.
    case estimated

    /// Completion is not reported.
    ///
    /// An update counts as completed after the time that a slow link needs for it, or when its central has
    /// shown that the update has arrived. If the backend has no send rate, an update counts as completed as
    /// soon as the stack has accepted it.
    case unknown
}

extension PeripheralSession {
    /// The manner in which the completion of updates is known at present.
    ///
    /// The manner may change when the peripheral is published again after it was off the air.
    public var completionReporting: CompletionReporting { runtime.updates.completionReporting }
}
