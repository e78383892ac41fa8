/// Something that happened while a peripheral is published.
public enum SessionEvent: Hashable, Sendable {
    /// A central has connected.
    case connected(Central)

    /// What is known of a connected central has changed: its MTU, its lasting address, or that it is bonded now.
    case changed(Central)

    /// A central is gone; the ends of its subscriptions have come before this.
    case disconnected(Central)

    /// A central has subscribed to a characteristic.
    case subscribed(Subscription)

    /// A subscription has ended.
    ///
    /// It ends also when the Bluetooth stack has lost it, as BlueZ does for some centrals that bond after they have
    /// subscribed. The central can subscribe anew.
    case unsubscribed(Subscription)

    /// An advertisement has been on the air for as long as its ``Advertisement/timeout`` says.
    case advertisementEnded(Advertisement)

    /// A subscriber of before the program ended is subscribed again, or will not be; its status tells.
    case restoredSubscriberChanged(RestoredSubscriber)

    /// The services stand at other handles than they did before, since another program has taken theirs meanwhile.
    ///
    /// What centrals have kept of them is wrong. It comes for a peripheral with a restoration identifier only, and once for each
    /// time that the handles change; ``PeripheralSession/restored`` tells what has moved.
    case handlesChanged

    /// What was preserved could not be restored, or what has changed could not be preserved, which is tried again.
    ///
    /// With ``RestorationError/Code/openedLate``, nothing is preserved in this run, and the next one begins with what was
    /// preserved before: a program had better end the run and start it again.
    case restorationFailed(RestorationProblem)
}
