/// How fast each central is sent values where nothing tells when they leave (`UpdatePacing.unknown`).
///
/// The first 128 go at once, and those after them one by one, at this pace. So no more than 128 are on their way to a central
/// whose link carries as many, or that shows soon enough what has arrived: by confirming an indication that it alone
/// was sent, or by asking for something after it was answered.
public struct FallbackRate: Hashable, Sendable {
    /// The time for a value; `nil` for no limit.
    package let interval: Duration?

    /// One value each 25 ms, which is what a link carries that has an interval of 50 ms and two packets in each.
    public static let standard = perSecond(40)

    /// A value counts as having left as soon as bluetoothd has taken it, which keeps whatever it is given, without
    /// bound.
    public static let unlimited = FallbackRate(interval: nil)

    /// So many values a second; at least one.
    public static func perSecond(_ count: Int) -> FallbackRate {
        FallbackRate(interval: .seconds(1) / max(count, 1))
    }

    package init(interval: Duration?) {
        self.interval = interval
    }
}
