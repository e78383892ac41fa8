public import PeripheralKit

/// The speed and cadence of a runner or walker.
///
/// A measurement is the value of the RSC Measurement characteristic, 0x2A53 (Running Speed and Cadence
/// Service 1.0.1, section 3.1).
///
/// ```swift
/// RSCMeasurement(metersPerSecond: 3.2, cadence: 168, isRunning: true)
/// ```
///
/// The encoder rounds each value to the nearest step, and limits each value to the range of the field.
public struct RSCMeasurement: Hashable, Sendable {
    /// The speed in meters per second, from 0 to 255.996 in steps of 1/256.
    public var metersPerSecond: Double

    /// The cadence in steps per minute.
    public var cadence: UInt8

    /// The length of a stride in meters, from 0 to 655.35 in steps of 0.01.
    ///
    /// The stride length is `nil` if the sensor does not send this value.
    public var strideLength: Double?

    /// The total distance in meters.
    ///
    /// A central can set the total distance. The sensor adds each new distance to the value that the central
    /// has set.
    ///
    /// The range of the distance is 0 to 429 496 729.5 meters in steps of 0.1.
    ///
    /// The distance is `nil` if the sensor does not send a distance.
    public var totalDistance: Double?

    /// Whether the user is running.
    ///
    /// The property is `false` if the user is walking, or if the sensor cannot distinguish walking from
    /// running.
    public var isRunning: Bool

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - metersPerSecond: The speed in meters per second.
    ///   - cadence: The cadence in steps per minute.
    ///   - strideLength: The length of a stride in meters.
    ///   - totalDistance: The total distance in meters.
    ///   - isRunning: Whether the user is running.
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

    /// Reads a measurement, and ignores reserved flags.
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

    /// Appends the encoded measurement, which is 4 to 10 bytes long.
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
    /// Returns the nearest number of steps, limited to a maximum; 0 for NaN.
    fileprivate func steps(_ perUnit: Double, upTo limit: UInt32) -> UInt32 {
        let steps = (self * perUnit).rounded()
        guard steps > 0 else { return 0 }
        return steps < Double(limit) ? UInt32(steps) : limit
    }
}

/// The features of a sensor, as encoded in the RSC Feature characteristic, 0x2A54.
///
/// The service creates the features from the parameters of its initializer (Running Speed and Cadence Service
/// 1.0.1, section 3.2).
public struct RSCFeature: OptionSet, Hashable, Sendable {
    /// The encoded bits.
    public let rawValue: UInt16

    /// Creates a set of features from bits.
    ///
    /// The set can contain bits that the specification does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The sensor sends the length of a stride.
    public static let strideLength = RSCFeature(rawValue: 1 << 0)
    /// The sensor sends the total distance.
    public static let totalDistance = RSCFeature(rawValue: 1 << 1)
    /// The sensor distinguishes walking from running.
    public static let walkingOrRunning = RSCFeature(rawValue: 1 << 2)
    /// Centrals can calibrate the sensor.
    public static let calibration = RSCFeature(rawValue: 1 << 3)
    /// The sensor supports several locations on the body.
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
