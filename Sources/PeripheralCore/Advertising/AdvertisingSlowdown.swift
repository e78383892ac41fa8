/// A longer interval that an advertisement has after some time.
///
/// If no central has found a device after half a minute, probably no central searches for it. With a longer
/// interval, the device uses less power.
///
/// ```swift
/// Advertisement(slowing: .after(.seconds(30)))
/// Advertisement(interval: .every(.milliseconds(50)), slowing: .after(.seconds(60), to: .every(.seconds(2))))
/// ```
public struct AdvertisingSlowdown: Hashable, Sendable {
    /// The time for which the advertisement has its first interval.
    public let time: Duration
    /// The interval after that time.
    public let interval: AdvertisingInterval

    /// Returns a slowdown after a time without a change and without a disconnection.
    ///
    /// - Parameters:
    ///   - time: The time for which the advertisement has its first interval.
    ///   - interval: The interval after that time.
    /// - Returns: The slowdown.
    public static func after(_ time: Duration, to interval: AdvertisingInterval = .slow)
        -> AdvertisingSlowdown
    {
        AdvertisingSlowdown(time: time, interval: interval)
    }
}
