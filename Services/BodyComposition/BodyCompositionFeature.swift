public import PeripheralKit

/// The values that a device reports about a body, and the resolution of these values.
///
/// This type represents the value of the Body Composition Feature characteristic, 0x2A9B (Body Composition
/// Service 1.0, section 3.1).
public struct BodyCompositionFeature: Hashable, Sendable {
    /// The values that a measurement can contain in addition to the body fat percentage.
    public struct Content: OptionSet, Hashable, Sendable {
        /// The encoded values.
        public var rawValue: UInt32

        /// Creates a set of values that a measurement can contain.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The time of the measurement.
        public static let timestamp = Content(rawValue: 1 << 0)
        /// The user.
        public static let userID = Content(rawValue: 1 << 1)
        /// The basal metabolism.
        public static let basalMetabolism = Content(rawValue: 1 << 2)
        /// The muscle percentage.
        public static let muscle = Content(rawValue: 1 << 3)
        /// The muscle mass.
        public static let muscleMass = Content(rawValue: 1 << 4)
        /// The fat-free mass.
        public static let fatFreeMass = Content(rawValue: 1 << 5)
        /// The soft lean mass.
        public static let softLeanMass = Content(rawValue: 1 << 6)
        /// The body water mass.
        public static let bodyWaterMass = Content(rawValue: 1 << 7)
        /// The impedance.
        public static let impedance = Content(rawValue: 1 << 8)
        /// The weight.
        public static let weight = Content(rawValue: 1 << 9)
        /// The height.
        public static let height = Content(rawValue: 1 << 10)

        fileprivate static let all = Content(rawValue: 0x7FF)
    }

    /// The resolution of the masses in a measurement.
    public enum MassResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// Not specified.
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

    /// The resolution of the height in a measurement.
    public enum HeightResolution: UInt8, Hashable, Sendable, CaseIterable {
        /// Not specified.
        case unspecified = 0
        /// A resolution of 0.01 m or 1 inch.
        case meters0_01
        /// A resolution of 0.005 m or 0.5 inches.
        case meters0_005
        /// A resolution of 0.001 m or 0.1 inches.
        case meters0_001
    }

    /// The values that a measurement can contain in addition to the body fat percentage.
    public var content: Content
    /// The resolution of the masses in a measurement.
    public var massResolution: MassResolution
    /// The resolution of the height in a measurement.
    public var heightResolution: HeightResolution

    /// Creates a set of features.
    ///
    /// - Parameters:
    ///   - content: The values that a measurement can contain in addition to the body fat percentage.
    ///   - massResolution: The resolution of the masses in a measurement.
    ///   - heightResolution: The resolution of the height in a measurement.
    public init(
        _ content: Content = [],
        massResolution: MassResolution = .unspecified,
        heightResolution: HeightResolution = .unspecified
    ) {
        self.content = content.intersection(.all)
        self.massResolution = massResolution
        self.heightResolution = heightResolution
    }
}

extension BodyCompositionFeature: GATTValue {
    /// Decodes the features from four bytes and ignores reserved bits.
    ///
    /// - Throws: A `GATTDecodingError`, for example if a resolution has a reserved value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let bits: UInt32 = try reader.read()
        guard let massResolution = MassResolution(rawValue: UInt8(bits >> 11 & 0xF)),
            let heightResolution = HeightResolution(rawValue: UInt8(bits >> 15 & 0x7))
        else {
            throw .invalidValue("the resolution of mass or height is reserved")
        }
        self.init(
            Content(rawValue: bits),
            massResolution: massResolution,
            heightResolution: heightResolution
        )
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(
            content.intersection(.all).rawValue | UInt32(massResolution.rawValue) << 11
                | UInt32(heightResolution.rawValue) << 15
        )
    }
}
