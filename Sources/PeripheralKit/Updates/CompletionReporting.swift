/// The method by which the session determines the completion of updates.
///
/// The method determines how many updates the session passes to the Bluetooth stack at a time. A Bluetooth
/// stack can accept any number of values and send the values minutes later. To avoid outdated values, the
/// session holds a new value in the queue of the ``UpdatePolicy`` until earlier values have left the device.
public enum CompletionReporting: Hashable, Sendable {
    /// The session observes the completion of each update.
    ///
    /// The Bluetooth stack holds only a few updates for each central at a time. If the Bluetooth stack can
    /// send values only to all subscribers together, the stack holds a few more updates for each additional
    /// characteristic.
    case observed

    /// The session estimates completion from the total amount of data that the device has sent.
    ///
    /// Other traffic and link interruptions reduce the accuracy of the estimate. With ``observed``, the
    /// session limits the number of updates that the Bluetooth stack holds for all centrals together. With
    /// `estimated`, the session applies the same limit to each central separately. After a period without
    /// data on a link, the Bluetooth stack might hold a few additional updates.
    case estimated

    /// The Bluetooth stack does not report the completion of updates.
    ///
    /// An update counts as completed after the time that a slow link needs to send the update. An update also
    /// counts as completed when a later request or confirmation from the central shows that the update has
    /// arrived. If the backend does not specify a send rate, an update counts as completed when the Bluetooth
    /// stack has accepted the update.
    case unknown
}
