/// How the session determines whether an update has been sent.
///
/// A Bluetooth stack can accept any number of values. A value that the Bluetooth stack sends minutes later is
/// outdated. The session therefore limits the number of values that the Bluetooth stack holds. Further values
/// wait in the queues of the session until the device has sent earlier values (see ``UpdatePolicy``).
public enum CompletionReporting: Hashable, Sendable {
    /// The session observes the transmission of each update.
    ///
    /// The Bluetooth stack holds only a few updates for each central at a time. Some Bluetooth stacks cannot
    /// send a value to one subscriber separately. If the Bluetooth stack sends each value to all subscribers
    /// together, it holds only a few updates of each characteristic at a time.
    case observed

    /// The session estimates which updates have been sent.
    ///
    /// The session bases the estimate on the total amount of data that the device has sent to all centrals.
    /// Other traffic and link interruptions reduce the accuracy of the estimate.
    ///
    /// The total does not indicate which central has received the data. The Bluetooth stack can therefore
    /// hold more updates for a slow central than with ``observed``. In the worst case, all updates that the
    /// Bluetooth stack holds are for the same central. After a link has been idle, the Bluetooth stack might
    /// hold a few additional updates.
    case estimated

    /// The Bluetooth stack does not report the completion of updates.
    ///
    /// The session estimates the time that a slow link needs to send an update. After the estimated time, the
    /// session treats the update as completed. The session also treats the update as completed if a later
    /// request or confirmation from the central proves that the update has arrived. If the backend does not
    /// specify a send rate, an update is completed when the Bluetooth stack has accepted the update.
    case unknown
}
