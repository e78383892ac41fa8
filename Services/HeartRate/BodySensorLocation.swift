public import PeripheralKit

/// The place on the body where a heart rate sensor is worn.
///
/// A location is the value of the Body Sensor Location, 0x2A38 (Heart Rate Service 1.0, section 3.2).
public struct BodySensorLocation: Hashable, Sendable {
    /// The encoded location.
    ///
    /// The values 7 through 255 are reserved.
    public var rawValue: UInt8

    /// Creates a location.
    ///
    /// The initializer also accepts locations that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A location that the specification does not list.
    public static let other = BodySensorLocation(rawValue: 0)
    /// On the chest.
    public static let chest = BodySensorLocation(rawValue: 1)
    /// On the wrist.
    public static let wrist = BodySensorLocation(rawValue: 2)
    /// On a finger.
    public static let finger = BodySensorLocation(rawValue: 3)
    /// On a hand.
    public static let hand = BodySensorLocation(rawValue: 4)
    /// On an ear lobe.
    public static let earLobe = BodySensorLocation(rawValue: 5)
    /// On a foot.
    public static let foot = BodySensorLocation(rawValue: 6)
}

extension BodySensorLocation: CustomStringConvertible {
    /// The name of the location, such as `ear lobe`.
    public var description: String {
        switch self {
        case .other: "other"
        case .chest: "chest"
        case .wrist: "wrist"
        case .finger: "finger"
        case .hand: "hand"
        case .earLobe: "ear lobe"
        case .foot: "foot"
        default: "reserved (\(rawValue))"
        }
    }
}

extension BodySensorLocation: GATTValue {
    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(rawValue: reader.read())
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
