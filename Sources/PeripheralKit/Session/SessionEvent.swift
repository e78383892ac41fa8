/// An event in the session of a published peripheral.
public enum SessionEvent: Hashable, Sendable {
    /// A central has connected.
    case connected(Central)

    /// The MTU, the timing, the identity address or the bond of a connected central has changed.
    case changed(Central)

    /// A central has disconnected.
    ///
    /// The session first reports the end of each subscription of the central, and then the disconnection.
    case disconnected(Central, reason: DisconnectionReason)

    /// A central has paired, and is bonded now.
    ///
    /// The event follows ``changed(_:)``. The session does not report that a bonded central has paired again,
    /// because Bluetooth stacks do not report it.
    case paired(Central)

    /// An attempt of a central to pair has made no bond, for the given reason.
    ///
    /// The session reports the attempts about which the Bluetooth stack has asked the peripheral. The stack
    /// itself refuses other attempts, for example of centrals that want to bond while no pairing window is
    /// open.
    case pairingFailed(Central, PairingFailure)

    /// The bond of a central was removed, by ``PeripheralSession/forget(_:)`` or by another program.
    ///
    /// The session also reports the bonds of centrals that are not connected. It does not report bonds that
    /// were removed while the peripheral was off the air.
    case bondRemoved(Central)

    /// A pairing window has opened.
    ///
    /// See ``PeripheralSession/allowPairing(for:)``.
    case pairingWindowOpened

    /// The pairing window has closed.
    case pairingWindowClosed

    /// A central has subscribed to a characteristic.
    case subscribed(Subscription)

    /// A subscription has ended.
    ///
    /// A subscription also ends when the Bluetooth stack loses the subscription. For example, the Bluetooth
    /// stack can lose a subscription when a subscribed central bonds. The central can subscribe again after
    /// the Bluetooth stack has lost the subscription. A subscription also ends when the program removes the
    /// service of the characteristic.
    case unsubscribed(Subscription)

    /// The ``Advertisement/timeout`` of an advertisement has passed.
    case advertisementEnded(Advertisement)

    /// The status of a restored subscriber has changed.
    case restoredSubscriberChanged(RestoredSubscriber)

    /// The attribute handles of the services have changed, because another program uses the earlier handles.
    ///
    /// The handles that centrals have cached are no longer correct. The session reports each change of the
    /// handles, but only if the peripheral has a restoration identifier. ``PeripheralSession/restored`` lists
    /// the elements whose handles have changed.
    case handlesChanged

    /// The session could not restore the preserved state, or could not save a change.
    ///
    /// The session retries a failed save.
    ///
    /// After the error ``RestorationError/Code/openedLate``, the session does not preserve the changes of the
    /// current run. The next run of the program begins with the state that earlier runs preserved. To
    /// preserve changes again, end the current run and start a new run.
    case restorationFailed(RestorationProblem)
}

extension SessionEvent: CustomStringConvertible {
    /// The event as one line of text, such as `connected: C0:00:00:00:00:01 (random, MTU 517)`.
    ///
    /// The text does not contain the values of characteristics.
    public var description: String {
        switch self {
        case .connected(let central): "connected: \(central)"
        case .changed(let central): "changed: \(central)"
        case .disconnected(let central, let reason): "disconnected: \(central), \(reason)"
        case .paired(let central): "paired: \(central)"
        case .pairingFailed(let central, let failure): "pairing failed: \(central), because \(failure)"
        case .bondRemoved(let central): "bond removed: \(central)"
        case .pairingWindowOpened: "pairing window opened"
        case .pairingWindowClosed: "pairing window closed"
        case .subscribed(let subscription): "subscribed: \(subscription)"
        case .unsubscribed(let subscription): "unsubscribed: \(subscription)"
        case .advertisementEnded(let advertisement):
            "advertisement ended: \(advertisement.localName.map { "\"\($0)\"" } ?? "without a declared name")"
        case .restoredSubscriberChanged(let subscriber): "restored subscriber changed: \(subscriber)"
        case .handlesChanged: "handles changed"
        case .restorationFailed(let problem): "restoration failed: \(problem)"
        }
    }
}
