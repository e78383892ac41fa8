/// The send rate to each central, used when the adapter does not report completed packets.
///
/// In this case, `PeripheralSession.completionReporting` is `.unknown`.
///
/// The backend sends the first 128 values at once, and each later value at this rate. At most 128 values are
/// in flight to a central in either of these cases:
///
/// - The link of the central can transmit values at this rate.
/// - The central shows soon enough which values have arrived. A central shows this in two ways. It confirms
///   an indication that was sent to this central alone, or it makes a request after the response to an
///   earlier request.
public struct FallbackRate: Hashable, Sendable {
    /// The time between two values; `nil` for no limit.
    package let interval: Duration?

    /// One value every 25 ms.
    ///
    /// A link with an interval of 50 ms and two packets in each interval is fast enough for this rate.
    public static let standard = perSecond(40)

    /// No limit: a value counts as completed as soon as bluetoothd has accepted the value.
    ///
    /// bluetoothd queues values without limit.
    public static let unlimited = FallbackRate(interval: nil)

    /// A number of values per second; at least one.
    public static func perSecond(_ count: Int) -> FallbackRate {
        FallbackRate(interval: .seconds(1) / max(count, 1))
    }

    package init(interval: Duration?) {
        self.interval = interval
    }
}
