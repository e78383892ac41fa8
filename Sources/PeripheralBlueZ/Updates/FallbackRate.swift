/// The rate at which values are sent to each central if the adapter does not report completed packets.
///
/// The backend uses the fallback rate if `PeripheralSession.completionReporting` is `.unknown`.
///
/// The backend sends the first 128 values for a central immediately, and all later values at the send rate.
/// At most 128 values are in flight to a central if one of these conditions is true:
///
/// - The link of the central can transmit values at the send rate.
/// - The central promptly shows which values have arrived. A central shows that values have arrived if it
///   confirms an indication that was sent only to this central. A central also shows that values have arrived
///   if it sends a request after the response to an earlier request.
public struct FallbackRate: Hashable, Sendable {
    /// The time between two values; `nil` for no limit.
    package let interval: Duration?

    /// A rate of one value every 25 ms.
    ///
    /// A link with a connection interval of 50 ms and two packets in each interval is fast enough for one
    /// value every 25 ms.
    public static let standard = perSecond(40)

    /// A rate without a limit.
    ///
    /// A value counts as completed as soon as bluetoothd has accepted the value.
    ///
    /// bluetoothd queues any number of values.
    public static let unlimited = FallbackRate(interval: nil)

    /// A rate with the given number of values per second.
    ///
    /// The rate is at least one value per second.
    public static func perSecond(_ count: Int) -> FallbackRate {
        FallbackRate(interval: .seconds(1) / max(count, 1))
    }

    package init(interval: Duration?) {
        self.interval = interval
    }
}
