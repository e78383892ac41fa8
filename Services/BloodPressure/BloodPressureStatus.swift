/// The problems that occurred during a blood pressure measurement.
///
/// This type represents the Measurement Status field of the Blood Pressure Measurement characteristic (Blood
/// Pressure Service 1.0, section 3.1).
public struct BloodPressureStatus: OptionSet, Hashable, Sendable {
    /// The encoded status.
    public var rawValue: UInt16

    /// Creates a status.
    ///
    /// The status can contain bits that the specification does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The user moved during the measurement.
    public static let bodyMovement = BloodPressureStatus(rawValue: 1 << 0)
    /// The cuff is too loose.
    public static let cuffTooLoose = BloodPressureStatus(rawValue: 1 << 1)
    /// The pulse is irregular.
    public static let irregularPulse = BloodPressureStatus(rawValue: 1 << 2)
    /// The pulse rate is above the upper limit.
    public static let pulseRateAboveRange = BloodPressureStatus(rawValue: 1 << 3)
    /// The pulse rate is below the lower limit.
    public static let pulseRateBelowRange = BloodPressureStatus(rawValue: 1 << 4)
    /// The position of the arm is improper.
    public static let improperPosition = BloodPressureStatus(rawValue: 1 << 5)
}
