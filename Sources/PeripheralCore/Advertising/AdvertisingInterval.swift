/// How often an advertisement is sent (Core Specification, Vol 6, Part B, 4.4.2.2).
///
/// A short interval is found sooner and costs more power. Controllers add up to 10 ms of their own each time.
///
/// ```swift
/// Advertisement(interval: .every(.milliseconds(100)))
/// Advertisement(interval: .between(.milliseconds(100), and: .milliseconds(150)))
/// ```
public struct AdvertisingInterval: Hashable, Sendable {
    /// The shortest time between two packets, in whole milliseconds.
    public let minimum: Duration
    /// The longest time between two packets, in whole milliseconds.
    public let maximum: Duration

    /// What BlueZ takes: 20 ms to 10,485,759 ms, which is nearly three hours.
    ///
    /// Adapters without extended advertising take 10,240 ms at most.
    public static let limits: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(10_485_759)

    /// One packet in this time.
    public static func every(_ interval: Duration) -> AdvertisingInterval {
        AdvertisingInterval(minimum: interval, maximum: interval)
    }

    /// One packet in a time that the controller chooses between these two.
    ///
    /// - Parameters:
    ///   - minimum: The shortest, 20 ms or more.
    ///   - maximum: The longest; not shorter than `minimum`, which is examined with the declaration.
    /// - Returns: The interval.
    public static func between(_ minimum: Duration, and maximum: Duration) -> AdvertisingInterval {
        AdvertisingInterval(minimum: minimum, maximum: maximum)
    }
}

extension AdvertisingInterval: CustomStringConvertible {
    /// The interval in milliseconds: `100 to 150 ms`.
    public var description: String {
        let shortest = minimum.wholeMilliseconds
        let longest = maximum.wholeMilliseconds
        return shortest == longest ? "\(shortest) ms" : "\(shortest) to \(longest) ms"
    }
}

extension Duration {
    /// The milliseconds that have passed in full; at the limits of `Int64`, as many as that holds.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let milliseconds = Int128(seconds) * 1000 + Int128(attoseconds / 1_000_000_000_000_000)
        return Int64(clamping: milliseconds)
    }
}
