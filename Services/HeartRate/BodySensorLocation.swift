public import PeripheralKit

/// The place on the body where a heart rate sensor is worn.
///
/// This type represents the value of the Body Sensor Location characteristic, 0x2A38 (Heart Rate Service 1.0,
/// section 3.2).
public struct BodySensorLocation: Hashable, Sendable {
    /// The encoded location.
    ///
    /// The Heart Rate Service specification 1.0 reserves the values 7 through 255.
    public var rawValue: UInt8

    /// Creates a location.
    ///
    /// The initializer accepts locations that the Heart Rate Service specification 1.0 does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A location that the Heart Rate Service specification 1.0 does not list.
    public static let other = BodySensorLocation(rawValue: 0)
    /// The chest.
    public static let chest = BodySensorLocation(rawValue: 1)
    /// The wrist.
    public static let wrist = BodySensorLocation(rawValue: 2)
    /// A finger.
    public static let finger = BodySensorLocation(rawValue: 3)
    /// A hand.
    public static let hand = BodySensorLocation(rawValue: 4)
    /// An ear lobe.
    public static let earLobe = BodySensorLocation(rawValue: 5)
    /// A foot.
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
