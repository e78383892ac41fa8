/// The time between two heartbeats, from one R wave of the electrocardiogram to the next.
///
/// The unit of an interval is 1/1024 second. The longest interval is just under 64 seconds (Heart Rate
/// Service 1.0, section 3.1.1.4).
public struct RRInterval: Hashable, Sendable {
    /// The interval in units of 1/1024 second.
    public var rawValue: UInt16

    /// Creates an interval from a number of 1/1024-second units.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Creates the interval that is nearest to the given duration.
    ///
    /// A negative duration becomes 0. A duration that is too long becomes the longest possible interval.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else {
            rawValue = 0
            return
        }
        guard seconds < 64 else {
            rawValue = .max
            return
        }
        let attosecondsPerUnit: Int64 = 1_000_000_000_000_000_000 / 1024
        let units = seconds * 1024 + (attoseconds + attosecondsPerUnit / 2) / attosecondsPerUnit
        rawValue = UInt16(clamping: units)
    }

    /// The interval as a duration.
    public var duration: Duration {
        .seconds(Int64(rawValue)) / 1024
    }
}
