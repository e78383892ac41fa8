public import PeripheralKit

/// The place where a sensor is worn or mounted.
///
/// The Sensor Location characteristic, 0x2A5D, contains a location (GATT Specification Supplement, Sensor
/// Location).
public struct SensorLocation: Hashable, Sendable {
    /// The encoded location.
    ///
    /// The specification reserves the values 17 through 255.
    public let rawValue: UInt8

    /// Creates a location.
    ///
    /// The initializer also accepts locations that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A location that the specification does not list.
    public static let other = SensorLocation(rawValue: 0)
    /// The top of a shoe.
    public static let topOfShoe = SensorLocation(rawValue: 1)
    /// The inside of a shoe.
    public static let inShoe = SensorLocation(rawValue: 2)
    /// The hip.
    public static let hip = SensorLocation(rawValue: 3)
    /// The front wheel.
    public static let frontWheel = SensorLocation(rawValue: 4)
    /// The left crank.
    public static let leftCrank = SensorLocation(rawValue: 5)
    /// The right crank.
    public static let rightCrank = SensorLocation(rawValue: 6)
    /// The left pedal.
    public static let leftPedal = SensorLocation(rawValue: 7)
    /// The right pedal.
    public static let rightPedal = SensorLocation(rawValue: 8)
    /// The hub of the front wheel.
    public static let frontHub = SensorLocation(rawValue: 9)
    /// The rear dropout.
    ///
    /// The dropout is the part of a bicycle frame that holds the axle of the rear wheel.
    public static let rearDropout = SensorLocation(rawValue: 10)
    /// The chainstay.
    public static let chainstay = SensorLocation(rawValue: 11)
    /// The rear wheel.
    public static let rearWheel = SensorLocation(rawValue: 12)
    /// The hub of the rear wheel.
    public static let rearHub = SensorLocation(rawValue: 13)
    /// The chest.
    public static let chest = SensorLocation(rawValue: 14)
    /// The spider of the crankset.
    public static let spider = SensorLocation(rawValue: 15)
    /// The chain ring.
    public static let chainRing = SensorLocation(rawValue: 16)
}

extension SensorLocation: GATTValue {
    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read()
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
