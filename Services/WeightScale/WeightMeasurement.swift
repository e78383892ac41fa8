public import PeripheralKit

/// A weight: the value of the Weight Measurement, 0x2A9D (Weight Scale Service 1.0, section 3.2).
///
/// ```swift
/// WeightMeasurement(kilograms: 72.5)
/// WeightMeasurement(kilograms: 72.5, userID: 1, build: .init(bodyMassIndex: 22.9, height: 1.78))
/// ```
///
/// The values on the air are whole numbers; what is sent is the nearest, and the least or greatest of what is out of range.
public struct WeightMeasurement: Hashable, Sendable {
    /// In what weight and height are measured.
    public enum Units: UInt8, Hashable, Sendable {
        /// Kilograms, in steps of 0.005, and meters, in steps of 0.001.
        case metric = 0
        /// Pounds, in steps of 0.01, and inches, in steps of 0.1.
        case imperial = 1
    }

    /// What a height tells together with the weight.
    public struct Build: Hashable, Sendable {
        /// The body mass index in kilograms per square meter, 0 to 6553.5, in steps of 0.1.
        public var bodyMassIndex: Double
        /// The height in meters, 0 to 65.535, or inches, 0 to 6553.5.
        public var height: Double

        /// Makes a build.
        ///
        /// - Parameters:
        ///   - bodyMassIndex: The body mass index in kilograms per square meter.
        ///   - height: The height in meters or inches, as the measurement has it.
        public init(bodyMassIndex: Double, height: Double) {
            self.bodyMassIndex = bodyMassIndex
            self.height = height
        }
    }

    /// The weight in kilograms, 0 to 327.67, or pounds, 0 to 655.34; `nil`, or not a number, when the measurement has not
    /// succeeded.
    public var weight: Double?
    /// In what weight and height are measured.
    public var units: Units
    /// When it was measured, in local time.
    ///
    /// A scale that stores measurements, or is not connected when it measures, has to tell.
    public var timestamp: DateTime?
    /// Whose weight it is, as the scale numbers its users; 255 for somebody unknown.
    public var userID: UInt8?
    /// What a height tells together with the weight; not sent when the measurement has not succeeded.
    public var build: Build?

    /// Makes a measurement in metric units.
    ///
    /// - Parameters:
    ///   - weight: The weight; `nil` when the measurement has not succeeded.
    ///   - timestamp: When it was measured, in local time.
    ///   - userID: Whose weight it is; 255 for somebody unknown.
    ///   - build: Body mass index, and height in meters.
    public init(
        kilograms weight: Double?,
        timestamp: DateTime? = nil,
        userID: UInt8? = nil,
        build: Build? = nil
    ) {
        (self.weight, units) = (weight, .metric)
        (self.timestamp, self.userID, self.build) = (timestamp, userID, build)
    }

    /// Makes a measurement in imperial units.
    ///
    /// - Parameters:
    ///   - weight: The weight; `nil` when the measurement has not succeeded.
    ///   - timestamp: When it was measured, in local time.
    ///   - userID: Whose weight it is; 255 for somebody unknown.
    ///   - build: Body mass index, and height in inches.
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

    /// Reads a measurement; flags that are reserved are ignored, as the specification demands of a central.
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
            // Nothing can be told of a weight that is none.
            if weight != nil {
                build = Build(
                    bodyMassIndex: Double(index) / 10,
                    height: Double(height) / units.heightsPerUnit
                )
            }
        }
    }

    /// Appends at most 15 bytes: flags, weight, then what else there is.
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
    /// The nearest number; 0 for what is none.
    fileprivate init(nearest value: Double) {
        let rounded = value.rounded()
        self = rounded > 0 ? rounded < 65_535 ? UInt16(rounded) : .max : 0
    }
}
