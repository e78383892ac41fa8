/// The result of a request to a sensor.
///
/// A result is the response value of the SC Control Point and of the Cycling Power Control Point. If a
/// handler throws a result, the response contains this result. If a handler throws any other error, the
/// response contains ``operationFailed``.
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
    /// The operation is not supported.
    public static let operationNotSupported = SensorControlResult(rawValue: 0x02)
    /// The parameter is not valid, or is outside the range that the sensor supports.
    public static let invalidParameter = SensorControlResult(rawValue: 0x03)
    /// The operation failed.
    public static let operationFailed = SensorControlResult(rawValue: 0x04)
}
