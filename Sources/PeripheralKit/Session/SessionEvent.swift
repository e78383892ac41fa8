/// Something that happened while a peripheral was published.
public enum SessionEvent: Hashable, Sendable {
    /// A central has connected.
    case connected(Central)

    /// The data of a connected central has changed: its MTU, its identity address or its bond.
    case changed(Central)

    /// A central has disconnected. The events for the ends of its subscriptions come first.
    case disconnected(Central)

    /// A central has subscribed to a characteristic.
    case subscribed(Subscription)

    /// A subscription has ended.
    ///
    /// It also ends when the Bluetooth stack loses it, which can happen when a central bonds after it has
    /// subscribed. The central can subscribe again.
    case unsubscribed(Subscription)

    /// The ``Advertisement/timeout`` of an advertisement is over.
    case advertisementEnded(Advertisement)

    /// The status of a restored subscriber has changed.
    case restoredSubscriberChanged(RestoredSubscriber)

    /// The services moved to other handles because another program had taken theirs.
    ///
    /// The handles that centrals have cached are wrong. This event occurs only for a peripheral with a
    /// restoration identifier, once for each time that the handles change. ``PeripheralSession/restored``
    /// lists the elements that moved.
    case handlesChanged

    /// Preserved state could not be restored, or a change could not be saved. Saving is tried again.
    ///
    /// With ``RestorationError/Code/openedLate``, nothing is preserved in this run, and the next run begins
    /// with the earlier preserved state. End the run and start it again.
    case restorationFailed(RestorationProblem)
}
