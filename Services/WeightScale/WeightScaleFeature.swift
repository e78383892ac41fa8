public import PeripheralKit

/// What a scale can do: the value of the Weight Scale Feature, 0x2A9E (Weight Scale Service 1.0, section 3.1).
public struct WeightScaleFeature: Hashable, Sendable {
    /// How fine a scale measures weights.
    public enum WeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// Not told.
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

    /// How fine a scale measures heights.
    public enum HeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// Not told.
        case unspecified = 0
        /// 0.01 m or 1 inch.
        case meters0_01
        /// 0.005 m or 0.5 inches.
        case meters0_005
        /// 0.001 m or 0.1 inches.
        case meters0_001
    }

    /// Whether measurements tell when they were made.
    public var hasTimestamps: Bool
    /// Whether measurements tell whose weight it is.
    public var hasUsers: Bool
    /// Whether measurements tell the body mass index and the height.
    public var hasBuild: Bool
    /// How fine weights are.
    public var weightResolution: WeightResolution
    /// How fine heights are.
    public var heightResolution: HeightResolution

    /// Makes a set of features.
    ///
    /// - Parameters:
    ///   - hasTimestamps: Whether measurements tell when they were made.
    ///   - hasUsers: Whether measurements tell whose weight it is.
    ///   - hasBuild: Whether measurements tell the body mass index and the height.
    ///   - weightResolution: How fine weights are.
    ///   - heightResolution: How fine heights are.
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
    /// Reads four bytes; bits that are reserved are ignored.
    ///
    /// - Throws: `GATTDecodingError` also for a resolution that is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let bits: UInt32 = try reader.read()
        hasTimestamps = bits & 1 << 0 != 0
        hasUsers = bits & 1 << 1 != 0
        hasBuild = bits & 1 << 2 != 0
        guard let weightResolution = WeightResolution(rawValue: UInt8(bits >> 3 & 0xF)),
            let heightResolution = HeightResolution(rawValue: UInt8(bits >> 7 & 0x7))
        else {
            throw .invalidValue("the resolution of weight or height is reserved")
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
