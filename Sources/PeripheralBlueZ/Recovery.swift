/// How a run continues when the Bluetooth stack cannot serve the peripheral.
///
/// A program on a device usually waits. A command-line tool usually ends with an error.
public enum Recovery: Hashable, Sendable {
    /// Waits for bluetoothd, the adapter, its power, or a permission, at the start and at any later time.
    ///
    /// `Peripheral.states` reports the missing part. The log also says how to correct the cause.
    case always

    /// Ends the run with an error if bluetoothd, the bus or the adapter is unavailable at the start.
    ///
    /// After the first publication, the run waits until the missing part is available again, and publishes
    /// the peripheral again.
    case afterPublication

    /// Ends the run with an error as soon as bluetoothd, the bus or the adapter is unavailable.
    case never
}
