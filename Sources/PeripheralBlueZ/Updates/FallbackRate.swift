/// The rate at which values are sent to each central if the adapter does not report completed packets.
///
/// The backend uses the fallback rate if `PeripheralSession.completionReporting` is `.unknown`.
///
/// The backend sends the first 128 values for a central immediately, and all later values at the send rate.
/// At most 128 values are in flight to a central if one of these conditions is true:
///
/// - The link of the central can transmit values at the send rate.
/// - The backend soon learns which values have arrived at the central.
///
/// Two kinds of messages from a central show which values have arrived:
///
/// - The confirmation of an indication shows that all values before the indication have arrived. The backend
///   must have sent the indication only to this central.
/// - A central waits for the response to each request before it sends the next request. Therefore a new
///   request shows that all values before the previous response have arrived.
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
