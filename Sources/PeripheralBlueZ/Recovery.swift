/// The behavior of a run while the Bluetooth stack cannot serve the peripheral.
///
/// A program on a device usually waits until the Bluetooth stack is available. A command-line tool usually
/// reports an error and exits instead.
public enum Recovery: Hashable, Sendable {
    /// Waits whenever the Bluetooth stack cannot serve the peripheral.
    ///
    /// The run waits until bluetoothd and the adapter are available, the adapter is powered on, and the
    /// program has the necessary permissions. The run can wait before the first publication and at any later
    /// time.
    ///
    /// `Peripheral.states` reports the missing part. The log also describes a remedy.
    case always

    /// Ends the run with an error if the Bluetooth stack is unavailable when the run starts.
    ///
    /// The Bluetooth stack consists of bluetoothd, the D-Bus system bus and the adapter.
    ///
    /// After the first publication, the run waits if a part of the Bluetooth stack becomes unavailable. When
    /// the part is available again, the run publishes the peripheral again.
    case afterPublication

    /// Ends the run with an error as soon as bluetoothd, the bus or the adapter is unavailable.
    case never
}
