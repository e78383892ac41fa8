/// The fluid in which glucose was measured (Glucose Service 1.0.1, section 3.1).
public struct GlucoseSampleType: Hashable, Sendable {
    /// The encoded type of the sample, which has four bits.
    ///
    /// The values 0 and 11 through 15 are reserved.
    public let rawValue: UInt8

    /// Creates a type.
    ///
    /// The initializer accepts types that the Glucose Service specification 1.0.1 does not define. The
    /// initializer ignores the upper four bits of the value.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// Capillary whole blood.
    public static let capillaryWholeBlood = GlucoseSampleType(rawValue: 1)
    /// Capillary plasma.
    public static let capillaryPlasma = GlucoseSampleType(rawValue: 2)
    /// Venous whole blood.
    public static let venousWholeBlood = GlucoseSampleType(rawValue: 3)
    /// Venous plasma.
    public static let venousPlasma = GlucoseSampleType(rawValue: 4)
    /// Arterial whole blood.
    public static let arterialWholeBlood = GlucoseSampleType(rawValue: 5)
    /// Arterial plasma.
    public static let arterialPlasma = GlucoseSampleType(rawValue: 6)
    /// Undetermined whole blood.
    public static let undeterminedWholeBlood = GlucoseSampleType(rawValue: 7)
    /// Undetermined plasma.
    public static let undeterminedPlasma = GlucoseSampleType(rawValue: 8)
    /// Interstitial fluid.
    public static let interstitialFluid = GlucoseSampleType(rawValue: 9)
    /// A control solution.
    public static let controlSolution = GlucoseSampleType(rawValue: 10)
}

/// The location from which a sample was taken (Glucose Service 1.0.1, section 3.1).
public struct GlucoseSampleLocation: Hashable, Sendable {
    /// The encoded location of the sample, which has four bits.
    ///
    /// The values 0 and 5 through 14 are reserved.
    public let rawValue: UInt8

    /// Creates a location.
    ///
    /// The initializer accepts locations that the Glucose Service specification 1.0.1 does not define. The
    /// initializer ignores the upper four bits of the value.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0F
    }

    /// A finger.
    public static let finger = GlucoseSampleLocation(rawValue: 1)
    /// An alternate site.
    public static let alternateSite = GlucoseSampleLocation(rawValue: 2)
    /// An ear lobe.
    public static let earLobe = GlucoseSampleLocation(rawValue: 3)
    /// A control solution instead of a sample from a person.
    public static let controlSolution = GlucoseSampleLocation(rawValue: 4)
    /// An unknown location.
    public static let notAvailable = GlucoseSampleLocation(rawValue: 15)
}

/// The problems with a glucose measurement.
///
/// `GlucoseSensorStatus` represents the Sensor Status Annunciation field (Glucose Service 1.0.1, section
/// 3.1).
public struct GlucoseSensorStatus: OptionSet, Hashable, Sendable {
    /// The encoded bits.
    public let rawValue: UInt16

    /// Creates a set of problems from encoded bits.
    ///
    /// The set can contain bits that the Glucose Service specification 1.0.1 does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The battery was low during the measurement.
    public static let batteryLow = GlucoseSensorStatus(rawValue: 1 << 0)
    /// The sensor malfunctioned.
    public static let malfunction = GlucoseSensorStatus(rawValue: 1 << 1)
    /// The sample was too small for a measurement.
    public static let sampleSizeInsufficient = GlucoseSensorStatus(rawValue: 1 << 2)
    /// The test strip was not inserted correctly.
    public static let stripInsertionError = GlucoseSensorStatus(rawValue: 1 << 3)
    /// The test strip is of the wrong type.
    public static let stripTypeIncorrect = GlucoseSensorStatus(rawValue: 1 << 4)
    /// The result is above the measurement range of the sensor.
    public static let resultTooHigh = GlucoseSensorStatus(rawValue: 1 << 5)
    /// The result is below the measurement range of the sensor.
    public static let resultTooLow = GlucoseSensorStatus(rawValue: 1 << 6)
    /// The temperature was too high for a valid result.
    public static let temperatureTooHigh = GlucoseSensorStatus(rawValue: 1 << 7)
    /// The temperature was too low for a valid result.
    public static let temperatureTooLow = GlucoseSensorStatus(rawValue: 1 << 8)
    /// The test strip was removed before the end of the measurement.
    public static let readInterrupted = GlucoseSensorStatus(rawValue: 1 << 9)
    /// The device has a general fault.
    public static let generalDeviceFault = GlucoseSensorStatus(rawValue: 1 << 10)
    /// The time of the measurement might be wrong.
    public static let timeFault = GlucoseSensorStatus(rawValue: 1 << 11)
}
