public import PeripheralKit

/// The features of a scale: the value of the Weight Scale Feature characteristic, 0x2A9E.
///
/// The Weight Scale Service 1.0, section 3.1, defines the features.
public struct WeightScaleFeature: Hashable, Sendable {
    /// The resolution of weights in measurements.
    public enum WeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// The resolution is not specified.
        case unspecified = 0
        /// A resolution of 0.5 kg or 1 lb.
        case kilograms0_5
        /// A resolution of 0.2 kg or 0.5 lb.
        case kilograms0_2
        /// A resolution of 0.1 kg or 0.2 lb.
        case kilograms0_1
        /// A resolution of 0.05 kg or 0.1 lb.
        case kilograms0_05
        /// A resolution of 0.02 kg or 0.05 lb.
        case kilograms0_02
        /// A resolution of 0.01 kg or 0.02 lb.
        case kilograms0_01
        /// A resolution of 0.005 kg or 0.01 lb.
        case kilograms0_005
    }

    /// The resolution of heights in measurements.
    public enum HeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// The resolution is not specified.
        case unspecified = 0
        /// A resolution of 0.01 m or 1 inch.
        case meters0_01
        /// A resolution of 0.005 m or 0.5 inches.
        case meters0_005
        /// A resolution of 0.001 m or 0.1 inches.
        case meters0_001
    }

    /// Whether each measurement contains the time of the measurement.
    public var hasTimestamps: Bool
    /// Whether each measurement contains the user's number.
    public var hasUsers: Bool
    /// Whether each measurement contains the body mass index and the height.
    public var hasBuild: Bool
    /// The resolution of weights in measurements.
    public var weightResolution: WeightResolution
    /// The resolution of heights in measurements.
    public var heightResolution: HeightResolution

    /// Creates a set of features.
    ///
    /// - Parameters:
    ///   - hasTimestamps: Whether each measurement contains the time of the measurement.
    ///   - hasUsers: Whether each measurement contains the user's number.
    ///   - hasBuild: Whether each measurement contains the body mass index and the height.
    ///   - weightResolution: The resolution of weights in measurements.
    ///   - heightResolution: The resolution of heights in measurements.
    public init(
        hasTimestamps: Bool = false,
        hasUsers: Bool = false,
        hasBuild: Bool = false,
        weightResolution: WeightResolution = .unspecified,
        heightResolution: HeightResolution = .unspecified
    ) {
        self.hasTimestamps = hasTimestamps
        self.hasUsers = hasUsers
        self.hasBuild = hasBuild
        self.weightResolution = weightResolution
        self.heightResolution = heightResolution
    }
}

extension WeightScaleFeature: GATTValue {
    /// Reads four bytes and ignores reserved bits.
    ///
    /// - Throws: `GATTDecodingError` if bytes are missing, or if a resolution has a reserved value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let bits: UInt32 = try reader.read()
        hasTimestamps = bits & 1 << 0 != 0
        hasUsers = bits & 1 << 1 != 0
        hasBuild = bits & 1 << 2 != 0
        guard let weightResolution = WeightResolution(rawValue: UInt8(bits >> 3 & 0xF)),
            let heightResolution = HeightResolution(rawValue: UInt8(bits >> 7 & 0x7))
        else {
            throw .invalidValue("the resolution of weight or height is a reserved value")
        }
        self.weightResolution = weightResolution
        self.heightResolution = heightResolution
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        var bits: UInt32 = 0
        if hasTimestamps { bits |= 1 << 0 }
        if hasUsers { bits |= 1 << 1 }
        if hasBuild { bits |= 1 << 2 }
        bits |= UInt32(weightResolution.rawValue) << 3
        bits |= UInt32(heightResolution.rawValue) << 7
        writer.write(bits)
    }
}
