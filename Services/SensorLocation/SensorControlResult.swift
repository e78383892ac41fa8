/// The result of a request to the control point of a sensor.
///
/// Each response from the SC Control Point or the Cycling Power Control Point contains a result. If a handler
/// throws a ``SensorControlResult``, the response contains this ``SensorControlResult``. If a handler throws
/// any other error, the response contains ``operationFailed``.
public struct SensorControlResult: Error, Hashable, Sendable {
    /// The encoded value.
    public var rawValue: UInt8

    /// Creates a result.
    ///
    /// The initializer also accepts results that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The operation succeeded.
    public static let success = SensorControlResult(rawValue: 0x01)
    /// The sensor does not support the operation.
    public static let operationNotSupported = SensorControlResult(rawValue: 0x02)
    /// The parameter is not valid or is outside the supported range.
    public static let invalidParameter = SensorControlResult(rawValue: 0x03)
    /// The operation failed.
    public static let operationFailed = SensorControlResult(rawValue: 0x04)
}
