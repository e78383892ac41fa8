public import PeripheralKit

/// The value of the Weight Measurement characteristic, 0x2A9D.
///
/// The Weight Scale Service 1.0, section 3.2, defines the measurement.
///
/// ```swift
/// WeightMeasurement(kilograms: 72.5)
/// WeightMeasurement(kilograms: 72.5, userID: 1, build: .init(bodyMassIndex: 22.9, height: 1.78))
/// ```
///
/// The encoder rounds each value to the nearest step, and limits each value to the range of the field.
public struct WeightMeasurement: Hashable, Sendable {
    /// The units of weight and height.
    public enum Units: UInt8, Hashable, Sendable {
        /// Kilograms in steps of 0.005, and meters in steps of 0.001.
        case metric = 0
        /// Pounds in steps of 0.01, and inches in steps of 0.1.
        case imperial = 1
    }

    /// The body mass index and the height.
    public struct Build: Hashable, Sendable {
        /// The body mass index in kilograms per square meter.
        ///
        /// The range of the body mass index is 0 to 6553.5 in steps of 0.1.
        public var bodyMassIndex: Double
        /// The height in meters (0 to 65.535) or in inches (0 to 6553.5).
        public var height: Double

        /// Creates a value from a body mass index and a height.
        ///
        /// - Parameters:
        ///   - bodyMassIndex: The body mass index in kilograms per square meter.
        ///   - height: The height in meters or inches, depending on the units of the measurement.
        public init(bodyMassIndex: Double, height: Double) {
            self.bodyMassIndex = bodyMassIndex
            self.height = height
        }
    }

    /// The weight in kilograms (0 to 327.67) or in pounds (0 to 655.34).
    ///
    /// If the measurement has failed, the weight is `nil` or not a number (NaN).
    public var weight: Double?
    /// The units of weight and height.
    public var units: Units
    /// The time of the measurement, in local time.
    ///
    /// The time is required if the scale stores measurements, or if the scale takes measurements while no
    /// central is connected.
    public var timestamp: DateTime?
    /// The number that the scale has assigned to the user.
    ///
    /// The number 255 means an unknown user.
    public var userID: UInt8?
    /// The body mass index and the height.
    ///
    /// If the measurement has failed, the service does not send the body mass index or the height.
    public var build: Build?

    /// Creates a measurement in metric units.
    ///
    /// - Parameters:
    ///   - weight: The weight, or `nil` if the measurement has failed.
    ///   - timestamp: The time of the measurement, in local time.
    ///   - userID: The user's number, or 255 for an unknown user.
    ///   - build: The body mass index, and the height in meters.
    public init(
        kilograms weight: Double?,
        timestamp: DateTime? = nil,
        userID: UInt8? = nil,
        build: Build? = nil
    ) {
        (self.weight, units) = (weight, .metric)
        (self.timestamp, self.userID, self.build) = (timestamp, userID, build)
    }

    /// Creates a measurement in imperial units.
    ///
    /// - Parameters:
    ///   - weight: The weight, or `nil` if the measurement has failed.
    ///   - timestamp: The time of the measurement, in local time.
    ///   - userID: The user's number, or 255 for an unknown user.
    ///   - build: The body mass index, and the height in inches.
    public init(
        pounds weight: Double?,
        timestamp: DateTime? = nil,
        userID: UInt8? = nil,
        build: Build? = nil
    ) {
        (self.weight, units) = (weight, .imperial)
        (self.timestamp, self.userID, self.build) = (timestamp, userID, build)
    }
}

extension WeightMeasurement: GATTValue {
    private static let timestampFlag: UInt8 = 1 << 1
    private static let userIDFlag: UInt8 = 1 << 2
    private static let buildFlag: UInt8 = 1 << 3
    private static let unsuccessful: UInt16 = 0xFFFF

    /// Reads a measurement, and ignores reserved flags.
    ///
    /// The specification requires centrals to ignore reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        units = flags & 1 == 0 ? .metric : .imperial
        let count: UInt16 = try reader.read()
        weight = count == Self.unsuccessful ? nil : Double(count) / units.weightsPerUnit
        timestamp = flags & Self.timestampFlag == 0 ? nil : try DateTime(decoding: &reader)
        userID = flags & Self.userIDFlag == 0 ? nil : try reader.read()
        build = nil
        if flags & Self.buildFlag != 0 {
            let index: UInt16 = try reader.read()
            let height: UInt16 = try reader.read()
            // Without a weight, the index and the height have no meaning.
            if weight != nil {
                build = Build(
                    bodyMassIndex: Double(index) / 10,
                    height: Double(height) / units.heightsPerUnit
                )
            }
        }
    }

    /// Appends at most 15 bytes, which contain the flags, the weight and the optional fields.
    public func encode(into writer: inout ByteWriter) {
        let weight = weight.flatMap { $0.isNaN ? nil : $0 }
        let build = weight == nil ? nil : build
        var flags = units.rawValue
        if timestamp != nil { flags |= Self.timestampFlag }
        if userID != nil { flags |= Self.userIDFlag }
        if build != nil { flags |= Self.buildFlag }
        writer.write(flags)
        if let weight {
            writer.write(min(UInt16(nearest: weight * units.weightsPerUnit), Self.unsuccessful - 1))
        } else {
            writer.write(Self.unsuccessful)
        }
        timestamp?.encode(into: &writer)
        if let userID { writer.write(userID) }
        if let build {
            writer.write(UInt16(nearest: build.bodyMassIndex * 10))
            writer.write(UInt16(nearest: build.height * units.heightsPerUnit))
        }
    }
}

extension WeightMeasurement.Units {
    fileprivate var weightsPerUnit: Double { self == .metric ? 200 : 100 }
    fileprivate var heightsPerUnit: Double { self == .metric ? 1000 : 10 }
}

extension UInt16 {
    /// Creates the nearest integer, limited to the range; 0 for NaN.
    fileprivate init(nearest value: Double) {
        let rounded = value.rounded()
        self = rounded > 0 ? rounded < 65_535 ? UInt16(rounded) : .max : 0
    }
}
