/// The fluid in which glucose was measured, and what of it (Glucose Service 1.0.1, section 3.1).
public struct GlucoseSampleType: Hashable, Sendable {
    /// The type as it is on the air, in four bits; 0 and 11 through 15 are reserved.
    public let rawValue: UInt8

    /// Makes a type, known to the specification or not; the upper four bits are dropped.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// Whole blood out of a capillary.
    public static let capillaryWholeBlood = GlucoseSampleType(rawValue: 1)
    /// Plasma out of a capillary.
    public static let capillaryPlasma = GlucoseSampleType(rawValue: 2)
    /// Whole blood out of a vein.
    public static let venousWholeBlood = GlucoseSampleType(rawValue: 3)
    /// Plasma out of a vein.
    public static let venousPlasma = GlucoseSampleType(rawValue: 4)
    /// Whole blood out of an artery.
    public static let arterialWholeBlood = GlucoseSampleType(rawValue: 5)
    /// Plasma out of an artery.
    public static let arterialPlasma = GlucoseSampleType(rawValue: 6)
    /// Whole blood out of an unknown vessel.
    public static let undeterminedWholeBlood = GlucoseSampleType(rawValue: 7)
    /// Plasma out of an unknown vessel.
    public static let undeterminedPlasma = GlucoseSampleType(rawValue: 8)
    /// The fluid between the cells.
    public static let interstitialFluid = GlucoseSampleType(rawValue: 9)
    /// A control solution.
    public static let controlSolution = GlucoseSampleType(rawValue: 10)
}

/// Where a sample was taken (Glucose Service 1.0.1, section 3.1).
public struct GlucoseSampleLocation: Hashable, Sendable {
    /// The location as it is on the air, in four bits; 0 and 5 through 14 are reserved.
    public let rawValue: UInt8

    /// Makes a location, known to the specification or not; the upper four bits are dropped.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// A finger.
    public static let finger = GlucoseSampleLocation(rawValue: 1)
    /// An alternate site.
    public static let alternateSite = GlucoseSampleLocation(rawValue: 2)
    /// An ear lobe.
    public static let earLobe = GlucoseSampleLocation(rawValue: 3)
    /// A control solution, which comes from nobody.
    public static let controlSolution = GlucoseSampleLocation(rawValue: 4)
    /// Not known.
    public static let notAvailable = GlucoseSampleLocation(rawValue: 15)
}

/// What was wrong with a measurement: the Sensor Status Annunciation (Glucose Service 1.0.1, section 3.1).
public struct GlucoseSensorStatus: OptionSet, Hashable, Sendable {
    /// The bits as they are on the air.
    public let rawValue: UInt16

    /// Makes a set of bits, known to the specification or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The battery was low.
    public static let batteryLow = GlucoseSensorStatus(rawValue: 1 << 0)
    /// The sensor malfunctioned.
    public static let malfunction = GlucoseSensorStatus(rawValue: 1 << 1)
    /// The sample was too small.
    public static let sampleSizeInsufficient = GlucoseSensorStatus(rawValue: 1 << 2)
    /// The strip was not inserted correctly.
    public static let stripInsertionError = GlucoseSensorStatus(rawValue: 1 << 3)
    /// The strip is of another type.
    public static let stripTypeIncorrect = GlucoseSensorStatus(rawValue: 1 << 4)
    /// The result is above what the sensor can measure.
    public static let resultTooHigh = GlucoseSensorStatus(rawValue: 1 << 5)
    /// The result is below what the sensor can measure.
    public static let resultTooLow = GlucoseSensorStatus(rawValue: 1 << 6)
    /// It was too warm for a valid result.
    public static let temperatureTooHigh = GlucoseSensorStatus(rawValue: 1 << 7)
    /// It was too cold for a valid result.
    public static let temperatureTooLow = GlucoseSensorStatus(rawValue: 1 << 8)
    /// The strip was pulled out too soon.
    public static let readInterrupted = GlucoseSensorStatus(rawValue: 1 << 9)
    /// The device has a general fault.
    public static let generalDeviceFault = GlucoseSensorStatus(rawValue: 1 << 10)
    /// The time is not to be trusted.
    public static let timeFault = GlucoseSensorStatus(rawValue: 1 << 11)
}
