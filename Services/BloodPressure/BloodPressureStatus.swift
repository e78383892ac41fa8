/// The problems during a blood pressure measurement.
///
/// This type represents the Measurement Status field of the Blood Pressure Measurement characteristic (Blood
/// Pressure Service 1.0, section 3.1).
public struct BloodPressureStatus: OptionSet, Hashable, Sendable {
    /// The encoded status.
    public var rawValue: UInt16

    /// Creates a status.
    ///
    /// Status values that the specification does not define are allowed.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The body has moved.
    public static let bodyMovement = BloodPressureStatus(rawValue: 1 << 0)
    /// The cuff is too loose.
    public static let cuffTooLoose = BloodPressureStatus(rawValue: 1 << 1)
    /// The pulse is irregular.
    public static let irregularPulse = BloodPressureStatus(rawValue: 1 << 2)
    /// The pulse is faster than the upper limit.
    public static let pulseRateAboveRange = BloodPressureStatus(rawValue: 1 << 3)
    /// The pulse is slower than the lower limit.
    public static let pulseRateBelowRange = BloodPressureStatus(rawValue: 1 << 4)
    /// The position of the arm is improper.
    public static let improperPosition = BloodPressureStatus(rawValue: 1 << 5)
}
