public import PeripheralKit

/// How fast somebody runs or walks: the value of the RSC Measurement, 0x2A53 (Running Speed and Cadence Service 1.0.1,
/// section 3.1).
///
/// ```swift
/// RSCMeasurement(metersPerSecond: 3.2, cadence: 168, isRunning: true)
/// ```
///
/// The values on the air are whole numbers of steps; what is sent is the nearest, and the end of the range for what is out of
/// range.
public struct RSCMeasurement: Hashable, Sendable {
    /// The speed in meters per second, 0 to 255.996 in steps of 1/256.
    public var metersPerSecond: Double

    /// The cadence in steps per minute.
    public var cadence: UInt8

    /// The length of a stride in meters, 0 to 655.35 in steps of 0.01; `nil` when the sensor does not tell.
    public var strideLength: Double?

    /// The distance since a central has last set it in meters, 0 to 429 496 729.5 in steps of 0.1; `nil` when the sensor
    /// does not tell.
    public var totalDistance: Double?

    /// Whether the user runs; `false` for walking, and when the sensor does not tell.
    public var isRunning: Bool

    /// Makes a measurement.
    ///
    /// - Parameters:
    ///   - metersPerSecond: The speed in meters per second.
    ///   - cadence: The cadence in steps per minute.
    ///   - strideLength: The length of a stride in meters.
    ///   - totalDistance: The distance in meters.
    ///   - isRunning: Whether the user runs.
    public init(
        metersPerSecond: Double,
        cadence: UInt8,
        strideLength: Double? = nil,
        totalDistance: Double? = nil,
        isRunning: Bool = false
    ) {
        self.metersPerSecond = metersPerSecond
        self.cadence = cadence
        self.strideLength = strideLength
        self.totalDistance = totalDistance
        self.isRunning = isRunning
    }
}

extension RSCMeasurement: GATTValue {
    private static let hasStrideLength: UInt8 = 1 << 0
    private static let hasTotalDistance: UInt8 = 1 << 1
    private static let isRunning: UInt8 = 1 << 2

    /// Reads a measurement; flags that are reserved are ignored.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        metersPerSecond = Double(try reader.read(UInt16.self)) / 256
        cadence = try reader.read()
        strideLength =
            flags & Self.hasStrideLength != 0 ? Double(try reader.read(UInt16.self)) / 100 : nil
        totalDistance =
            flags & Self.hasTotalDistance != 0 ? Double(try reader.read(UInt32.self)) / 10 : nil
        isRunning = flags & Self.isRunning != 0
    }

    /// Appends 4 to 10 bytes.
    public func encode(into writer: inout ByteWriter) {
        var flags: UInt8 = isRunning ? Self.isRunning : 0
        if strideLength != nil { flags |= Self.hasStrideLength }
        if totalDistance != nil { flags |= Self.hasTotalDistance }
        writer.write(flags)
        writer.write(UInt16(truncatingIfNeeded: metersPerSecond.steps(256, upTo: UInt32(UInt16.max))))
        writer.write(cadence)
        if let strideLength {
            writer.write(UInt16(truncatingIfNeeded: strideLength.steps(100, upTo: UInt32(UInt16.max))))
        }
        if let totalDistance { writer.write(totalDistance.steps(10, upTo: .max)) }
    }
}

extension Double {
    /// The nearest number of steps, of which there are so many in a unit; 0 for what is not a number.
    fileprivate func steps(_ perUnit: Double, upTo limit: UInt32) -> UInt32 {
        let steps = (self * perUnit).rounded()
        guard steps > 0 else { return 0 }
        return steps < Double(limit) ? UInt32(steps) : limit
    }
}

/// What a sensor can tell: the value of the RSC Feature, 0x2A54 (Running Speed and Cadence Service 1.0.1, section 3.2).
///
/// The service makes it of its parameters.
public struct RSCFeature: OptionSet, Hashable, Sendable {
    /// The bits as they are on the air.
    public let rawValue: UInt16

    /// Makes a set of bits, known to the specification or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// It tells the length of a stride.
    public static let strideLength = RSCFeature(rawValue: 1 << 0)
    /// It tells the total distance.
    public static let totalDistance = RSCFeature(rawValue: 1 << 1)
    /// It tells walking from running.
    public static let walkingOrRunning = RSCFeature(rawValue: 1 << 2)
    /// Centrals can calibrate it.
    public static let calibration = RSCFeature(rawValue: 1 << 3)
    /// It works in several locations.
    public static let multipleSensorLocations = RSCFeature(rawValue: 1 << 4)
}

extension RSCFeature: GATTValue {
    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(rawValue: try reader.read())
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
