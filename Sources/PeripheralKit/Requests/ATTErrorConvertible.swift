public import PeripheralCore

/// An error that has a meaning for a central.
///
/// If a handler throws such an error, the request is refused with ``attError``. Not every Bluetooth stack can
/// carry every ATT error: see `ATTError`.
///
/// If a handler throws any other error, the error is logged, and the central receives
/// `ATTError.unlikelyError`.
public protocol ATTErrorConvertible: Error {
    /// The error that the central receives.
    var attError: ATTError { get }
}

extension ATTError: ATTErrorConvertible {
    /// The same error, without a conversion.
    public var attError: ATTError { self }
}

extension GATTDecodingError: ATTErrorConvertible {}
