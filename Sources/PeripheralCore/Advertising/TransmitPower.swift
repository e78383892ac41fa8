/// The power of a transmission, in dBm: decibels over one milliwatt.
public struct TransmitPower: Hashable, Comparable, Sendable {
    /// The number of dBm.
    public let dBm: Int

    /// What can be asked of a controller: −127 to 20 dBm (Core Specification, Vol 4, Part E, 7.8.53).
    public static let limits: ClosedRange<TransmitPower> = .dBm(-127) ... .dBm(20)

    /// This many dBm.
    public static func dBm(_ number: Int) -> TransmitPower {
        TransmitPower(dBm: number)
    }

    /// Whether the first is weaker than the second.
    public static func < (weaker: TransmitPower, stronger: TransmitPower) -> Bool {
        weaker.dBm < stronger.dBm
    }
}

extension TransmitPower: CustomStringConvertible {
    /// The number and its unit: `-4 dBm`.
    public var description: String { "\(dBm) dBm" }
}
