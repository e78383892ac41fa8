public import PeripheralKit

/// The features of a cycling power sensor.
///
/// This type represents the value of the Cycling Power Feature characteristic, 0x2A65 (Cycling Power Service
/// 1.1, section 3.1). ``CyclingPowerService`` derives the features from the parameters of its initializer.
public struct CyclingPowerFeature: Equatable, Sendable {
    /// The encoded bits.
    public let rawValue: UInt32

    /// Creates a set of features from the encoded bits.
    ///
    /// The set can contain bits that the Cycling Power Service specification does not define.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Returns whether the set contains all of the given features.
    public func contains(_ features: CyclingPowerFeature) -> Bool {
        rawValue & features.rawValue == features.rawValue
    }

    /// The sensor reports the distribution of power between the pedals.
    public static let pedalPowerBalance = CyclingPowerFeature(rawValue: 1 << 0)
    /// The sensor reports the accumulated torque.
    public static let accumulatedTorque = CyclingPowerFeature(rawValue: 1 << 1)
    /// The sensor reports the revolutions of the wheel.
    public static let wheelRevolutions = CyclingPowerFeature(rawValue: 1 << 2)
    /// The sensor reports the revolutions of the crank.
    public static let crankRevolutions = CyclingPowerFeature(rawValue: 1 << 3)
    /// The sensor reports the maximum and the minimum force or torque.
    public static let extremeMagnitudes = CyclingPowerFeature(rawValue: 1 << 4)
    /// The sensor reports the crank angles at the maximum and the minimum force (or torque).
    public static let extremeAngles = CyclingPowerFeature(rawValue: 1 << 5)
    /// The sensor reports the crank angles at which the power becomes positive or negative.
    public static let deadSpotAngles = CyclingPowerFeature(rawValue: 1 << 6)
    /// The sensor reports the accumulated energy.
    public static let accumulatedEnergy = CyclingPowerFeature(rawValue: 1 << 7)
    /// The sensor can report that its offset needs compensation.
    public static let offsetCompensationIndicator = CyclingPowerFeature(rawValue: 1 << 8)
    /// At the request of a central, the sensor compensates its offset.
    public static let offsetCompensation = CyclingPowerFeature(rawValue: 1 << 9)
    /// At the request of a central, the sensor omits values from measurements.
    public static let contentMasking = CyclingPowerFeature(rawValue: 1 << 10)
    /// The sensor supports several mounting locations.
    public static let multipleSensorLocations = CyclingPowerFeature(rawValue: 1 << 11)
    /// Centrals can set the length of the crank.
    public static let crankLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 12)
    /// Centrals can set the length of the chain.
    public static let chainLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 13)
    /// Centrals can set the weight of the chain.
    public static let chainWeightAdjustment = CyclingPowerFeature(rawValue: 1 << 14)
    /// Centrals can set the length of the chain span.
    public static let spanLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 15)
    /// The sensor measures torques instead of forces.
    public static let torqueBased = CyclingPowerFeature(rawValue: 1 << 16)
    /// The sensor reports the direction of the measured forces or torques.
    public static let measurementDirection = CyclingPowerFeature(rawValue: 1 << 17)
    /// The sensor reports the date of its factory calibration.
    public static let factoryCalibrationDate = CyclingPowerFeature(rawValue: 1 << 18)
    /// The sensor supports enhanced offset compensation, which returns manufacturer data.
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
