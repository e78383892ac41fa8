/// The result of a request to a sensor.
///
/// It is the response value of the SC Control Point, and of the Cycling Power Control Point. A handler throws
/// a result to send it as the response. Any other error is sent as ``operationFailed``.
public struct SensorControlResult: Error, Hashable, Sendable {
    /// The encoded value.
    public var rawValue: UInt8

    /// Creates a result.
    ///
    /// The specification need not define it.
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
