/// How a run continues when the Bluetooth stack cannot serve the peripheral.
///
/// A program on a device usually waits. A command-line tool usually ends with an error.
public enum Recovery: Hashable, Sendable {
    /// Waits for bluetoothd, the adapter, its power, or a permission, at the start and at any later time.
    ///
    /// `Peripheral.states` reports what is missing. The log also says what to do about it.
    case always

    /// Ends the run with an error if something is missing at the start.
    ///
    /// After the first publication, the peripheral is published again automatically.
    case afterPublication

    /// Ends the run with an error if something is missing, at any time.
    case never
}
