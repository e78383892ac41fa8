/// Something that happened while a peripheral is published.
public enum SessionEvent: Hashable, Sendable {
    /// A central has connected.
    case connected(Central)

    /// What is known of a connected central has changed: its MTU, or that it is bonded now.
    case changed(Central)

    /// A central is gone; the ends of its subscriptions have come before this.
    case disconnected(Central)

    /// A central has subscribed to a characteristic.
    case subscribed(Subscription)

    /// A subscription has ended.
    case unsubscribed(Subscription)

    /// An advertisement has been on the air for as long as its ``Advertisement/timeout`` says.
    case advertisementEnded(Advertisement)
}
