public import PeripheralKit

/// The place where a sensor is worn or mounted.
///
/// A location is the value of the Sensor Location, 0x2A5D (GATT Specification Supplement, Sensor Location).
public struct SensorLocation: Hashable, Sendable {
    /// The encoded location.
    ///
    /// The values 17 through 255 are reserved.
    public let rawValue: UInt8

    /// Creates a location.
    ///
    /// The initializer also accepts locations that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A location that the specification does not list.
    public static let other = SensorLocation(rawValue: 0)
    /// On top of a shoe.
    public static let topOfShoe = SensorLocation(rawValue: 1)
    /// In a shoe.
    public static let inShoe = SensorLocation(rawValue: 2)
    /// On the hip.
    public static let hip = SensorLocation(rawValue: 3)
    /// On the front wheel.
    public static let frontWheel = SensorLocation(rawValue: 4)
    /// On the left crank.
    public static let leftCrank = SensorLocation(rawValue: 5)
    /// On the right crank.
    public static let rightCrank = SensorLocation(rawValue: 6)
    /// On the left pedal.
    public static let leftPedal = SensorLocation(rawValue: 7)
    /// On the right pedal.
    public static let rightPedal = SensorLocation(rawValue: 8)
    /// On the hub of the front wheel.
    public static let frontHub = SensorLocation(rawValue: 9)
    /// On the dropout of the rear wheel.
    public static let rearDropout = SensorLocation(rawValue: 10)
    /// On the chainstay.
    public static let chainstay = SensorLocation(rawValue: 11)
    /// On the rear wheel.
    public static let rearWheel = SensorLocation(rawValue: 12)
    /// On the hub of the rear wheel.
    public static let rearHub = SensorLocation(rawValue: 13)
    /// On the chest.
    public static let chest = SensorLocation(rawValue: 14)
    /// On the spider of the crankset.
    public static let spider = SensorLocation(rawValue: 15)
    /// On the chain ring.
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
