public import PeripheralKit

/// The features of a sensor.
///
/// This type represents the value of the Cycling Power Feature characteristic, 0x2A65 (Cycling Power Service
/// 1.1, section 3.1). The service derives the features from its parameters.
public struct CyclingPowerFeature: Equatable, Sendable {
    /// The encoded bits.
    public let rawValue: UInt32

    /// Creates a set of bits.
    ///
    /// Bits that the specification does not define are allowed.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Returns whether this value contains all bits of the given features.
    public func contains(_ features: CyclingPowerFeature) -> Bool {
        rawValue & features.rawValue == features.rawValue
    }

    /// The sensor reports the distribution of power between the pedals.
    public static let pedalPowerBalance = CyclingPowerFeature(rawValue: 1 << 0)
    /// The sensor reports the sum of the torques.
    public static let accumulatedTorque = CyclingPowerFeature(rawValue: 1 << 1)
    /// The sensor reports the revolutions of the wheel.
    public static let wheelRevolutions = CyclingPowerFeature(rawValue: 1 << 2)
    /// The sensor reports the revolutions of the crank.
    public static let crankRevolutions = CyclingPowerFeature(rawValue: 1 << 3)
    /// The sensor reports the greatest and the least force or torque.
    public static let extremeMagnitudes = CyclingPowerFeature(rawValue: 1 << 4)
    /// The sensor reports the angles of the greatest and the least magnitude.
    public static let extremeAngles = CyclingPowerFeature(rawValue: 1 << 5)
    /// The sensor reports the angles at which the power becomes positive and negative.
    public static let deadSpotAngles = CyclingPowerFeature(rawValue: 1 << 6)
    /// The sensor reports the energy.
    public static let accumulatedEnergy = CyclingPowerFeature(rawValue: 1 << 7)
    /// The sensor reports when its offset should be compensated.
    public static let offsetCompensationIndicator = CyclingPowerFeature(rawValue: 1 << 8)
    /// The sensor compensates its offset at the request of a central.
    public static let offsetCompensation = CyclingPowerFeature(rawValue: 1 << 9)
    /// The sensor omits values from measurements at the request of a central.
    public static let contentMasking = CyclingPowerFeature(rawValue: 1 << 10)
    /// The sensor works in several locations.
    public static let multipleSensorLocations = CyclingPowerFeature(rawValue: 1 << 11)
    /// The sensor supports setting the length of the crank.
    public static let crankLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 12)
    /// The sensor supports setting the length of the chain.
    public static let chainLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 13)
    /// The sensor supports setting the weight of the chain.
    public static let chainWeightAdjustment = CyclingPowerFeature(rawValue: 1 << 14)
    /// The sensor supports setting the length of the span.
    public static let spanLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 15)
    /// The sensor measures torques instead of forces.
    public static let torqueBased = CyclingPowerFeature(rawValue: 1 << 16)
    /// The sensor reports the direction in which it measures.
    public static let measurementDirection = CyclingPowerFeature(rawValue: 1 << 17)
    /// The sensor reports the date of its factory calibration.
    public static let factoryCalibrationDate = CyclingPowerFeature(rawValue: 1 << 18)
    /// The sensor compensates its offset and reports manufacturer data with the result.
    public static let enhancedOffsetCompensation = CyclingPowerFeature(rawValue: 1 << 19)
    /// The sensor cannot be used together with another sensor on the same bicycle.
    public static let notForDistributedSystem = CyclingPowerFeature(rawValue: 1 << 20)
    /// The sensor can be used together with another sensor on the same bicycle.
    public static let forDistributedSystem = CyclingPowerFeature(rawValue: 1 << 21)
}

extension CyclingPowerFeature: GATTValue {
    /// Reads four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(rawValue: try reader.read())
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
