/// Whether `Peripheral.run` waits or ends when the Bluetooth stack is unavailable.
///
/// A program on a device usually waits until the Bluetooth stack is available. A command-line tool usually
/// reports an error and exits.
public enum Recovery: Hashable, Sendable {
    /// Waits whenever the Bluetooth stack is unavailable.
    ///
    /// The run waits until bluetoothd and the adapter are available, the adapter is powered on, and the
    /// program has the necessary permissions. The run can wait before and after the first publication.
    ///
    /// `Peripheral.states` reports why the run waits. The log contains the reason and a remedy.
    case always

    /// Ends the run with an error if the run starts without the Bluetooth stack.
    ///
    /// The Bluetooth stack consists of bluetoothd, the D-Bus system bus and the adapter.
    ///
    /// After the first publication, the run waits if bluetoothd, the bus or the adapter becomes unavailable.
    /// The backend publishes the peripheral again when the entire Bluetooth stack is available again.
    case afterPublication

    /// Ends the run with an error as soon as the Bluetooth stack is unavailable.
    ///
    /// The Bluetooth stack consists of bluetoothd, the D-Bus system bus and the adapter.
    case never
}
