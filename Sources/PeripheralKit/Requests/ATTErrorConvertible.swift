public import PeripheralCore

/// An error that has a meaning for the central.
///
/// A handler that throws such an error refuses the request with ``attError``, as far as the Bluetooth stack can carry it:
/// `ATTError` has a table. Any other error reaches the central as `ATTError.unlikelyError` and is logged.
public protocol ATTErrorConvertible: Error {
    /// What the central is told.
    var attError: ATTError { get }
}

extension ATTError: ATTErrorConvertible {
    /// The error itself.
    public var attError: ATTError { self }
}

extension GATTDecodingError: ATTErrorConvertible {}
