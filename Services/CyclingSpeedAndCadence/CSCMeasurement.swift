public import PeripheralKit
public import PeripheralSensorLocation

/// How often wheel and crank of a bicycle have turned: the value of the CSC Measurement, 0x2A5B (Cycling Speed and Cadence
/// Service 1.0.1, section 3.1).
///
/// ```swift
/// CSCMeasurement(wheel: WheelRevolutions(12_345, at: .seconds(30.5)))
/// ```
///
/// Speed and cadence are a central's to compute, of two measurements and the wheel's circumference.
public struct CSCMeasurement: Hashable, Sendable {
    /// How often the wheel has turned; `nil` when the sensor does not tell.
    public var wheel: WheelRevolutions?

    /// How often the crank has turned; `nil` when the sensor does not tell.
    public var crank: CrankRevolutions?

    /// Makes a measurement.
    ///
    /// - Parameters:
    ///   - wheel: How often the wheel has turned.
    ///   - crank: How often the crank has turned.
    public init(wheel: WheelRevolutions? = nil, crank: CrankRevolutions? = nil) {
        self.wheel = wheel
        self.crank = crank
    }
}

extension CSCMeasurement: GATTValue {
    private static let hasWheel: UInt8 = 1 << 0
    private static let hasCrank: UInt8 = 1 << 1
    private static let stepsPerSecond = 1024

    /// Reads a measurement; flags that are reserved are ignored.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        wheel =
            flags & Self.hasWheel != 0
            ? try WheelRevolutions(decoding: &reader, stepsPerSecond: Self.stepsPerSecond) : nil
        crank = flags & Self.hasCrank != 0 ? try CrankRevolutions(decoding: &reader) : nil
    }

    /// Appends 1 to 11 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write((wheel == nil ? 0 : Self.hasWheel) | (crank == nil ? 0 : Self.hasCrank))
        if let wheel { wheel.encode(into: &writer, stepsPerSecond: Self.stepsPerSecond) }
        if let crank { crank.encode(into: &writer) }
    }
}

/// What a sensor can tell: the value of the CSC Feature, 0x2A5C (Cycling Speed and Cadence Service 1.0.1, section 3.2).
///
/// The service makes it of its parameters.
public struct CSCFeature: OptionSet, Hashable, Sendable {
    /// The bits as they are on the air.
    public let rawValue: UInt16

    /// Makes a set of bits, known to the specification or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// It counts the revolutions of the wheel.
    public static let wheelRevolutions = CSCFeature(rawValue: 1 << 0)
    /// It counts the revolutions of the crank.
    public static let crankRevolutions = CSCFeature(rawValue: 1 << 1)
    /// It works in several locations.
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
