/// The timing that a program prefers for a connection.
///
/// ```swift
/// let preference = ConnectionPreference(interval: .milliseconds(15) ... .milliseconds(30))
/// try await session.prefer(preference, for: central)
/// ```
///
/// The limits are those of the Core Specification, Vol 4, Part E, section 7.8.18.
public struct ConnectionPreference: Hashable, Sendable {
    /// The range of the interval, within 7.5 ms to 4 s.
    ///
    /// An interval is a multiple of 1.25 ms. The central chooses an interval in the range.
    public var interval: ClosedRange<Duration>

    /// The number of successive meetings that this device may skip if it has nothing to send, from 0 to 499.
    public var latency: Int

    /// The time without a packet after which the connection counts as lost, from 100 ms to 32 s.
    ///
    /// It must be more than twice the longest time between two meetings, which is the longest interval times
    /// ``latency`` plus 1.
    public var supervisionTimeout: Duration

    /// Creates a preference.
    public init(
        interval: ClosedRange<Duration>,
        latency: Int = 0,
        supervisionTimeout: Duration = .seconds(5)
    ) {
        (self.interval, self.latency) = (interval, latency)
        self.supervisionTimeout = supervisionTimeout
    }

    /// Short intervals, from 15 ms to 30 ms, for example while the program sends a document.
    public static let lowLatency = ConnectionPreference(interval: .milliseconds(15) ... .milliseconds(30))

    /// Long intervals, from 450 ms to 510 ms, of which this device may skip two.
    ///
    /// A write of the central can take 1.5 s.
    public static let lowPower = ConnectionPreference(
        interval: .milliseconds(450) ... .milliseconds(510),
        latency: 2,
        supervisionTimeout: .seconds(6)
    )
}

extension ConnectionPreference {
    /// The numbers that a controller receives: in units of 1.25 ms, and of 10 ms for the timeout.
    package struct Units: Equatable, Sendable {
        package var interval: ClosedRange<UInt16>
        package var latency: UInt16
        package var supervisionTimeout: UInt16

        package init(interval: ClosedRange<UInt16>, latency: UInt16, supervisionTimeout: UInt16) {
            (self.interval, self.latency) = (interval, latency)
            self.supervisionTimeout = supervisionTimeout
        }
    }

    /// Returns the numbers for a controller.
    ///
    /// - Throws: ``PeripheralError`` with the code `invalidValue`, and the violated rule.
    package func units() throws(PeripheralError) -> Units {
        func check(_ isValid: Bool, _ rule: String) throws(PeripheralError) {
            guard !isValid else { return }
            throw PeripheralError(
                code: .invalidValue,
                message: "The preferred connection parameters are invalid: \(rule)."
            )
        }
        let range = Duration.microseconds(7500) ... .seconds(4)
        try check(
            range.contains(interval.lowerBound) && range.contains(interval.upperBound),
            "the interval must be from 7.5 ms to 4 s"
        )
        let unit = Duration.microseconds(1250)
        let (first, last) = (
            (interval.lowerBound / unit).rounded(.up), (interval.upperBound / unit).rounded(.down)
        )
        try check(first <= last, "the range of the interval must contain a multiple of 1.25 ms")
        try check((0...499).contains(latency), "the latency must be from 0 to 499")
        try check(
            (.milliseconds(100) ... .seconds(32)).contains(supervisionTimeout),
            "the supervision timeout must be from 100 ms to 32 s"
        )
        try check(
            supervisionTimeout > unit * Int(last) * (latency + 1) * 2,
            "the supervision timeout must be more than 2 x (latency + 1) x the longest interval"
        )
        return Units(
            interval: UInt16(first)...UInt16(last),
            latency: UInt16(latency),
            supervisionTimeout: UInt16((supervisionTimeout / .milliseconds(10)).rounded(.up))
        )
    }
}
