/// How a run continues when the Bluetooth stack cannot serve the peripheral.
///
/// A program on a device usually wants ``always``. A command-line tool usually wants ``afterPublication`` or
/// ``never``.
public enum Recovery: Hashable, Sendable {
    /// Waits for bluetoothd, the adapter, its power, or a permission, at the start and at any later time.
    ///
    /// `Peripheral.states` reports what is missing. The log also says what to do about it.
    case always

    /// Throws an error if something is missing at the start.
    ///
    /// After the first publication, the peripheral recovers automatically.
    case afterPublication

    /// Throws an error if something is missing, at any time.
    case never
}
