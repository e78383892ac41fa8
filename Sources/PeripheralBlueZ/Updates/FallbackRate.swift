/// The send rate for each central if the backend cannot observe sent packets.
///
/// The backend uses the fallback rate if `PeripheralSession.completionReporting` is `.unknown`.
///
/// The backend sends the first 128 values for a central immediately, and all later values at the send rate.
/// At most 128 values are in flight to a central if one of these conditions is true:
///
/// - The link of the central can transmit values at the send rate.
/// - Messages from the central soon show which values have arrived.
///
/// Two kinds of messages from a central show which values have arrived:
///
/// - The confirmation of an indication shows that all values before the indication have arrived. If the
///   backend has sent an indication to several centrals, the backend ignores the confirmations of the
///   indication.
/// - A central waits for the response to each request before it sends the next request. Therefore a new
///   request proves that the central has received the previous response. The central has also received all
///   values that were sent before that response.
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
    /// bluetoothd does not limit the number of queued values.
    public static let unlimited = FallbackRate(interval: nil)

    /// A rate with the given number of values per second.
    ///
    /// If `count` is less than 1, the rate is one value per second.
    public static func perSecond(_ count: Int) -> FallbackRate {
        FallbackRate(interval: .seconds(1) / max(count, 1))
    }

    package init(interval: Duration?) {
        self.interval = interval
    }
}
