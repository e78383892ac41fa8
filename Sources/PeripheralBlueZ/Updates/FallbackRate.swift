/// The send rate to each central, used when the adapter does not report completed packets
/// (`CompletionReporting.unknown`).
///
/// The first 128 values are sent at once, and the next ones one at a time at this rate. So no more than 128
/// are in flight to a central in either of two cases:
///
/// - Its link carries this rate.
/// - The central shows soon enough what has arrived. It does so by confirming an indication that was sent to
///   it alone, or by making a request after an earlier one was answered.
public struct FallbackRate: Hashable, Sendable {
    /// The time for a value; `nil` for no limit.
    package let interval: Duration?

    /// One value every 25 ms, the rate of a link with an interval of 50 ms and two packets in each.
    public static let standard = perSecond(40)

    /// No limit: a value counts as completed as soon as bluetoothd has taken it.
    ///
    /// bluetoothd queues values without bound.
    public static let unlimited = FallbackRate(interval: nil)

    /// A number of values per second; at least one.
    public static func perSecond(_ count: Int) -> FallbackRate {
        FallbackRate(interval: .seconds(1) / max(count, 1))
    }

    package init(interval: Duration?) {
        self.interval = interval
    }
}
