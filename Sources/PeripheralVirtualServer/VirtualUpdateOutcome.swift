/// The outcome of an update for one central.
package enum VirtualUpdateOutcome: Hashable, Sendable {
    /// A notification was sent; notifications are not confirmed.
    case sent
    /// The central has confirmed the indication.
    case confirmed
    /// The connection ended before the indication was confirmed.
    case disconnected
    /// The central has not confirmed the indication in time and was disconnected.
    case timedOut
}
