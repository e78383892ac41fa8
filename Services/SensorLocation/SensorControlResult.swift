/// How a request to a sensor has ended: the response value of the SC Control Point, and of the Cycling Power Control
/// Point.
///
/// A handler of a request throws one to have it told; what else it throws is told as ``operationFailed``.
public struct SensorControlResult: Error, Hashable, Sendable {
    /// The value as it is on the air.
    public var rawValue: UInt8

    /// Makes a result, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It was carried out.
    public static let success = SensorControlResult(rawValue: 0x01)
    /// The operation is not supported.
    public static let operationNotSupported = SensorControlResult(rawValue: 0x02)
    /// The parameter makes no sense, or is out of the range that the sensor supports.
    public static let invalidParameter = SensorControlResult(rawValue: 0x03)
    /// It failed.
    public static let operationFailed = SensorControlResult(rawValue: 0x04)
}
