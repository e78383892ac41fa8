/// When a backend goes on although the Bluetooth stack cannot serve the peripheral: what a program on a device wants,
/// and what a command-line tool wants.
public enum Recovery: Hashable, Sendable {
    /// Whatever is missing is waited for, also at the start: bluetoothd, the adapter, its power, a permission.
    ///
    /// `Peripheral.states` tells what is missing, and the log, with what to do about it.
    case always

    /// What is missing at the start ends the run by an error; once published, the peripheral comes back by itself.
    case afterPublication

    /// What is missing ends the run by an error, at any time.
    case never
}
