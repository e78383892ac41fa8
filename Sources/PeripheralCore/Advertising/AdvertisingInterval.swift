/// The time between two consecutive packets of an advertisement.
///
/// Core Specification, Vol 6, Part B, 4.4.2.2, defines the interval.
///
/// With a short interval, scanners find the device sooner, but the device uses more power. The Bluetooth
/// controller adds a random delay of up to 10 ms to each advertising interval. Controllers measure the
/// interval in steps of 0.625 ms.
///
/// ```swift
/// Advertisement(interval: .every(.milliseconds(100)))
/// Advertisement(interval: .between(.milliseconds(100), and: .milliseconds(150)))
/// ```
public struct AdvertisingInterval: Hashable, Sendable {
    /// The shortest time between two advertising packets.
    public let minimum: Duration
    /// The longest time between two advertising packets.
    public let maximum: Duration

    /// The intervals that BlueZ accepts: 20 ms to 10,485,759 ms (nearly three hours).
    ///
    /// An adapter without extended advertising accepts intervals of at most 10,240 ms.
    public static let limits: ClosedRange<Duration> = .milliseconds(20) ... .milliseconds(10_485_759)

    /// 100 to 152.5 ms, which is the default.
    ///
    /// Apple recommends 152.5 ms for a device that an iPhone must find quickly.
    public static let fast = between(.milliseconds(100), and: .milliseconds(152.5))

    /// 1022.5 ms, for a device that is rarely searched for.
    ///
    /// The interval is one of those that Apple recommends.
    public static let slow = every(.milliseconds(1022.5))

    /// Returns a fixed advertising interval.
    public static func every(_ interval: Duration) -> AdvertisingInterval {
        AdvertisingInterval(minimum: interval, maximum: interval)
    }

    /// Returns a range from which the Bluetooth controller chooses the advertising interval.
    ///
    /// - Parameters:
    ///   - minimum: The shortest interval, at least 20 ms.
    ///   - maximum: The longest interval, at least `minimum`. The validation of the peripheral's declaration
    ///     checks that `maximum` is at least `minimum`.
    /// - Returns: The interval.
    public static func between(_ minimum: Duration, and maximum: Duration) -> AdvertisingInterval {
        AdvertisingInterval(minimum: minimum, maximum: maximum)
    }
}

extension AdvertisingInterval: CustomStringConvertible {
    /// The interval in milliseconds, such as `100 to 152.5 ms`.
    public var description: String {
        let longest = maximum.milliseconds
        return minimum == maximum ? "\(longest) ms" : "\(minimum.milliseconds) to \(longest) ms"
    }
}

extension Duration {
    /// The milliseconds as text, such as `152.5`.
    fileprivate var milliseconds: String {
        var microseconds = abs(components.attoseconds / 1_000_000_000_000 % 1000)
        guard microseconds > 0 else { return "\(wholeMilliseconds)" }
        var digits = 3
        while microseconds % 10 == 0 { (microseconds, digits) = (microseconds / 10, digits - 1) }
        let zeros = String(repeating: "0", count: digits - "\(microseconds)".utf8.count)
        return "\(wholeMilliseconds).\(zeros)\(microseconds)"
    }

    /// The number of complete milliseconds, clamped to the range of `Int64`.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let milliseconds = Int128(seconds) * 1000 + Int128(attoseconds / 1_000_000_000_000_000)
        return Int64(clamping: milliseconds)
    }
}
