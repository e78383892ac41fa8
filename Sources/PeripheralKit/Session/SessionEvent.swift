/// Something that happened while a peripheral was published.
public enum SessionEvent: Hashable, Sendable {
    /// A central has connected.
    case connected(Central)

    /// The data of a connected central has changed: its MTU, its identity address or its bond.
    case changed(Central)

    /// A central has disconnected. Events for the ends of its subscriptions precede this event.
    case disconnected(Central)

    /// A central has subscribed to a characteristic.
    case subscribed(Subscription)

    /// A subscription has ended.
    ///
    /// A subscription also ends when the Bluetooth stack loses it. For example, the stack can lose a
    /// subscription when the central bonds after it has subscribed. The central can subscribe again.
    case unsubscribed(Subscription)

    /// The ``Advertisement/timeout`` of an advertisement has passed.
    case advertisementEnded(Advertisement)

    /// The status of a restored subscriber has changed.
    case restoredSubscriberChanged(RestoredSubscriber)

    /// The services moved to other handles because another program uses the earlier handles.
    ///
    /// The handles in the caches of centrals are wrong. This event occurs only for a peripheral with a
    /// restoration identifier. It occurs each time that the handles change. ``PeripheralSession/restored``
    /// lists the elements that moved.
    case handlesChanged

    /// Preserved state could not be restored, or a change could not be saved.
    ///
    /// A save that failed is tried again.
    ///
    /// With ``RestorationError/Code/openedLate``, changes in this run are not preserved. The next run begins
    /// with the earlier preserved state. End the run and start the peripheral again.
    case restorationFailed(RestorationProblem)
}
