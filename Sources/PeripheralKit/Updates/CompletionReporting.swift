/// How the session determines whether an update has been sent.
///
/// A Bluetooth stack can accept any number of values. If the stack sends the values minutes later, the values
/// are outdated. The session therefore limits the number of values that it passes to the Bluetooth stack at a
/// time. Other values wait in the queues of the session (see ``UpdatePolicy``) until earlier values have left
/// the device.
public enum CompletionReporting: Hashable, Sendable {
    /// The session observes when each update has been sent.
    ///
    /// The Bluetooth stack holds only a few updates for each central at a time. Some Bluetooth stacks can
    /// send a value only to all subscribers together. The session then passes a few updates of each
    /// characteristic to the Bluetooth stack, even if other characteristics have already reached the limit.
    case observed

    /// The session estimates which updates have been sent.
    ///
    /// The session bases the estimate on the total amount of data that the device has sent to all centrals.
    /// Other traffic and link interruptions reduce the accuracy of the estimate.
    ///
    /// The total does not show which central has received the data. The Bluetooth stack can therefore hold
    /// more updates for a slow central than with ``observed``. In the worst case, the Bluetooth stack holds
    /// as many updates for one central as ``observed`` allows for all centrals together. After a period
    /// without data on a link, the Bluetooth stack might hold a few additional updates.
    case estimated

    /// The Bluetooth stack does not report the completion of updates.
    ///
    /// An update counts as completed after the time that a slow link needs to send the update. An update also
    /// counts as completed when a later request or confirmation from the central shows that the update has
    /// arrived. If the backend does not specify a send rate, an update counts as completed when the Bluetooth
    /// stack has accepted the update.
    case unknown
}
