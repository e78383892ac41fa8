/// A transmit power in dBm (decibels relative to one milliwatt).
public struct TransmitPower: Hashable, Comparable, Sendable {
    /// The transmit power in dBm.
    public let dBm: Int

    /// The transmit powers that a Bluetooth controller accepts: −127 to 20 dBm.
    ///
    /// Core Specification, Vol 4, Part E, 7.8.53, defines the limits.
    public static let limits: ClosedRange<TransmitPower> = .dBm(-127) ... .dBm(20)

    /// Returns a transmit power of the given number of dBm.
    public static func dBm(_ number: Int) -> TransmitPower {
        TransmitPower(dBm: number)
    }

    /// Returns whether the first transmit power is less than the second transmit power.
    public static func < (weaker: TransmitPower, stronger: TransmitPower) -> Bool {
        weaker.dBm < stronger.dBm
    }
}

extension TransmitPower: CustomStringConvertible {
    /// The transmit power with its unit, such as `-4 dBm`.
    public var description: String { "\(dBm) dBm" }
}
