/// The timing of a connection.
///
/// The central determines the timing. ``PeripheralSession/prefer(_:for:)`` asks the central for another
/// timing.
public struct ConnectionParameters: Hashable, Sendable {
    /// The time from one meeting of the two sides to the next, from 7.5 ms to 4 s.
    ///
    /// Both sides can send and receive only when they meet.
    public let interval: Duration

    /// The number of successive meetings that this device may skip if it has nothing to send, from 0 to 499.
    public let latency: Int

    /// The time without a packet after which the connection counts as lost, from 100 ms to 32 s.
    public let supervisionTimeout: Duration

    /// Creates connection parameters.
    ///
    /// Use this initializer only in backends and tests.
    public init(interval: Duration, latency: Int = 0, supervisionTimeout: Duration = .seconds(5)) {
        (self.interval, self.latency) = (interval, latency)
        self.supervisionTimeout = supervisionTimeout
    }
}
