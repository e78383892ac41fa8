public import PeripheralCore

/// A handler error that the framework can convert to an ATT error.
///
/// If the error of a handler conforms to `ATTErrorConvertible`, the framework refuses the request with
/// ``attError``. Some Bluetooth stacks cannot send every ATT error. See `ATTError`.
///
/// If a handler throws an error that does not conform to this protocol, the framework logs the error, and the
/// central receives `ATTError.unlikelyError`.
public protocol ATTErrorConvertible: Error {
    /// The error that the central receives.
    var attError: ATTError { get }
}

extension ATTError: ATTErrorConvertible {
    /// This `ATTError`, without a conversion.
    public var attError: ATTError { self }
}

extension GATTDecodingError: ATTErrorConvertible {}
