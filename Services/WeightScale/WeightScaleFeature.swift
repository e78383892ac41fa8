public import PeripheralKit

/// The features of a scale: the value of the Weight Scale Feature, 0x2A9E.
///
/// The source is the Weight Scale Service 1.0, section 3.1.
public struct WeightScaleFeature: Hashable, Sendable {
    /// The resolution of weights.
    public enum WeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// The resolution is not specified.
        case unspecified = 0
        /// 0.5 kg or 1 lb.
        case kilograms0_5
        /// 0.2 kg or 0.5 lb.
        case kilograms0_2
        /// 0.1 kg or 0.2 lb.
        case kilograms0_1
        /// 0.05 kg or 0.1 lb.
        case kilograms0_05
        /// 0.02 kg or 0.05 lb.
        case kilograms0_02
        /// 0.01 kg or 0.02 lb.
        case kilograms0_01
        /// 0.005 kg or 0.01 lb.
        case kilograms0_005
    }

    /// The resolution of heights.
    public enum HeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// The resolution is not specified.
        case unspecified = 0
        /// 0.01 m or 1 inch.
        case meters0_01
        /// 0.005 m or 0.5 inches.
        case meters0_005
        /// 0.001 m or 0.1 inches.
        case meters0_001
    }

    /// Whether measurements contain their time.
    public var hasTimestamps: Bool
    /// Whether measurements contain the user.
    public var hasUsers: Bool
    /// Whether measurements contain the body mass index and the height.
    public var hasBuild: Bool
    /// The resolution of weights.
    public var weightResolution: WeightResolution
    /// The resolution of heights.
    public var heightResolution: HeightResolution

    /// Creates a set of features.
    ///
    /// - Parameters:
    ///   - hasTimestamps: Whether measurements contain their time.
    ///   - hasUsers: Whether measurements contain the user.
    ///   - hasBuild: Whether measurements contain the body mass index and the height.
    ///   - weightResolution: The resolution of weights.
    ///   - heightResolution: The resolution of heights.
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
    /// - Throws: `GATTDecodingError` if bytes are missing, or if a resolution is reserved.
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
