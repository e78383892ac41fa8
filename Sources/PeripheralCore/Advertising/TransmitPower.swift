/// A transmit power in dBm: decibels relative to one milliwatt.
public struct TransmitPower: Hashable, Comparable, Sendable {
    /// The number of dBm.
    public let dBm: Int

    /// The range that a controller accepts: −127 to 20 dBm (Core Specification, Vol 4, Part E, 7.8.53).
    public static let limits: ClosedRange<TransmitPower> = .dBm(-127) ... .dBm(20)

    /// Returns the power with this number of dBm.
    public static func dBm(_ number: Int) -> TransmitPower {
        TransmitPower(dBm: number)
    }

    /// Returns whether the first power is weaker than the second.
    public static func < (weaker: TransmitPower, stronger: TransmitPower) -> Bool {
        weaker.dBm < stronger.dBm
    }
}

extension TransmitPower: CustomStringConvertible {
    /// The number and its unit, such as `-4 dBm`.
    public var description: String { "\(dBm) dBm" }
}
