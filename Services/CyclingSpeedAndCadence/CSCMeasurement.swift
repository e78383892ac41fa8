public import PeripheralKit
public import PeripheralSensorLocation

/// The revolutions of a bicycle's wheel and crank.
///
/// This type represents the value of the CSC Measurement characteristic, 0x2A5B (Cycling Speed and Cadence
/// Service 1.0.1, section 3.1).
///
/// ```swift
/// CSCMeasurement(wheel: WheelRevolutions(12_345, at: .seconds(30.5)))
/// ```
///
/// A central computes the speed and the cadence from two measurements and the circumference of the wheel.
public struct CSCMeasurement: Hashable, Sendable {
    /// The revolutions of the wheel, or `nil` if the sensor does not report wheel revolutions.
    public var wheel: WheelRevolutions?

    /// The revolutions of the crank, or `nil` if the sensor does not report crank revolutions.
    public var crank: CrankRevolutions?

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - wheel: The revolutions of the wheel.
    ///   - crank: The revolutions of the crank.
    public init(wheel: WheelRevolutions? = nil, crank: CrankRevolutions? = nil) {
        self.wheel = wheel
        self.crank = crank
    }
}

extension CSCMeasurement: GATTValue {
    private static let hasWheel: UInt8 = 1 << 0
    private static let hasCrank: UInt8 = 1 << 1
    private static let stepsPerSecond = 1024

    /// Decodes a measurement and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        wheel =
            flags & Self.hasWheel != 0
            ? try WheelRevolutions(decoding: &reader, stepsPerSecond: Self.stepsPerSecond) : nil
        crank = flags & Self.hasCrank != 0 ? try CrankRevolutions(decoding: &reader) : nil
    }

    /// Appends the encoded measurement, which is 1 to 11 bytes long.
    public func encode(into writer: inout ByteWriter) {
        writer.write((wheel == nil ? 0 : Self.hasWheel) | (crank == nil ? 0 : Self.hasCrank))
        if let wheel { wheel.encode(into: &writer, stepsPerSecond: Self.stepsPerSecond) }
        if let crank { crank.encode(into: &writer) }
    }
}

/// The features of a cycling speed and cadence sensor.
///
/// This type represents the value of the CSC Feature characteristic, 0x2A5C (Cycling Speed and Cadence
/// Service 1.0.1, section 3.2). The service derives the features from the parameters of its initializer.
public struct CSCFeature: OptionSet, Hashable, Sendable {
    /// The encoded bits.
    public let rawValue: UInt16

    /// Creates a set of features.
    ///
    /// The set can contain features that the specification does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The sensor counts the revolutions of the wheel.
    public static let wheelRevolutions = CSCFeature(rawValue: 1 << 0)
    /// The sensor counts the revolutions of the crank.
    public static let crankRevolutions = CSCFeature(rawValue: 1 << 1)
    /// The sensor supports several locations on a bicycle.
    public static let multipleSensorLocations = CSCFeature(rawValue: 1 << 2)
}

extension CSCFeature: GATTValue {
    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(rawValue: try reader.read())
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
