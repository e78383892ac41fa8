public import PeripheralKit

/// What a sensor supports: the value of the Cycling Power Feature, 0x2A65 (Cycling Power Service 1.1, section 3.1).
///
/// The service makes it of its parameters.
public struct CyclingPowerFeature: Equatable, Sendable {
    /// The bits as they are on the air.
    public let rawValue: UInt32

    /// Makes a set of bits, known to the specification or not.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Tells whether all bits of another value are among these.
    public func contains(_ features: CyclingPowerFeature) -> Bool {
        rawValue & features.rawValue == features.rawValue
    }

    /// It tells how the power is shared between the pedals.
    public static let pedalPowerBalance = CyclingPowerFeature(rawValue: 1 << 0)
    /// It tells the sum of the torques.
    public static let accumulatedTorque = CyclingPowerFeature(rawValue: 1 << 1)
    /// It tells how often the wheel has turned.
    public static let wheelRevolutions = CyclingPowerFeature(rawValue: 1 << 2)
    /// It tells how often the crank has turned.
    public static let crankRevolutions = CyclingPowerFeature(rawValue: 1 << 3)
    /// It tells the greatest and least force or torque.
    public static let extremeMagnitudes = CyclingPowerFeature(rawValue: 1 << 4)
    /// It tells the angles of the greatest and the least magnitude.
    public static let extremeAngles = CyclingPowerFeature(rawValue: 1 << 5)
    /// It tells the angles at which the power becomes positive and negative.
    public static let deadSpotAngles = CyclingPowerFeature(rawValue: 1 << 6)
    /// It tells the energy.
    public static let accumulatedEnergy = CyclingPowerFeature(rawValue: 1 << 7)
    /// It tells when its offset should be compensated.
    public static let offsetCompensationIndicator = CyclingPowerFeature(rawValue: 1 << 8)
    /// It compensates its offset when a central wants it.
    public static let offsetCompensation = CyclingPowerFeature(rawValue: 1 << 9)
    /// It leaves out of measurements what a central does not want.
    public static let contentMasking = CyclingPowerFeature(rawValue: 1 << 10)
    /// It works in several locations.
    public static let multipleSensorLocations = CyclingPowerFeature(rawValue: 1 << 11)
    /// It can be told the length of the crank.
    public static let crankLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 12)
    /// It can be told the length of the chain.
    public static let chainLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 13)
    /// It can be told the weight of the chain.
    public static let chainWeightAdjustment = CyclingPowerFeature(rawValue: 1 << 14)
    /// It can be told the length of the span.
    public static let spanLengthAdjustment = CyclingPowerFeature(rawValue: 1 << 15)
    /// It measures torques; otherwise forces.
    public static let torqueBased = CyclingPowerFeature(rawValue: 1 << 16)
    /// It tells in which direction it measures.
    public static let measurementDirection = CyclingPowerFeature(rawValue: 1 << 17)
    /// It tells when its maker has calibrated it.
    public static let factoryCalibrationDate = CyclingPowerFeature(rawValue: 1 << 18)
    /// It compensates its offset, and tells data of its maker with it.
    public static let enhancedOffsetCompensation = CyclingPowerFeature(rawValue: 1 << 19)
    /// It is not for use together with another sensor on the same bicycle.
    public static let notForDistributedSystem = CyclingPowerFeature(rawValue: 1 << 20)
    /// It can be used together with another sensor on the same bicycle.
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
