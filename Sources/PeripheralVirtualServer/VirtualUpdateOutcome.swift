/// The outcome of an update for one central.
package enum VirtualUpdateOutcome: Hashable, Sendable {
    /// The server has sent a notification, which needs no confirmation.
    case sent
    /// The central has confirmed the indication.
    case confirmed
    /// The connection ended before the central confirmed the indication.
    case disconnected
    /// The central did not confirm the indication in time, and the server disconnected the central.
    case timedOut
}
