internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The sender of updates, as ``Subscriptions`` need it.
protocol SubscriptionsDelegate: AnyObject {
    /// Sends updates that have waited for a change of the routes.
    func routesChanged()
}

/// Tracks the subscriptions of centrals from bluetoothd's reports, and reports them to the host.
///
/// The object belongs to the event loop.
final class Subscriptions {
    /// The subscriptions of a central that has disconnected, for ``settleLater(_:)``.
    struct Leaving {
        fileprivate var central: Central.ID
        fileprivate var endangered: [SubscriptionTable.Socket]
        /// The characteristics whose confirmations must be settled.
        fileprivate var settling: [AttributeHandle]
        /// The characteristics that had no other subscriber.
        fileprivate var last: [AttributeHandle]
    }

    /// The longest time that bluetoothd needs to reach a connected central without an earlier sign.
    private static let attachment = Duration.seconds(1)

    private let context: CentralsContext
    private let devices: DeviceRegister
    private let sockets: SubscriberSockets
    private let security: SubscriberSecurity
    private let confirmations: ConfirmationTracker
    private let reporter: EventReporter
    private let turns: DaemonTurns
    private weak var delegate: (any SubscriptionsDelegate)?
    private var table = SubscriptionTable()
    private var miscounts = Miscounts()
    /// The answers to `AcquireNotify` that bluetoothd may not have handled yet.
    private var unsettledAnswers = UnsettledAnswers()
    /// The reconnected centrals that bluetoothd may not reach yet, each with the number of its timer.
    private var returning: [Central.ID: Int] = [:]
    private var lastReturn = 0

    init(
        in context: CentralsContext,
        devices: DeviceRegister,
        sockets: SubscriberSockets,
        security: SubscriberSecurity,
        confirmations: ConfirmationTracker,
        reporter: EventReporter,
        turns: DaemonTurns
    ) {
        (self.context, self.devices, self.sockets) = (context, devices, sockets)
        (self.security, self.confirmations) = (security, confirmations)
        (self.reporter, self.turns) = (reporter, turns)
    }

    func setDelegate(_ delegate: any SubscriptionsDelegate) {
        self.delegate = delegate
    }

    // MARK: Queries

    func subscribers(of characteristic: AttributeHandle) -> [SubscriptionTable.Subscriber] {
        table.subscribers(of: characteristic)
    }

    /// The known number of subscribers.
    func count(of characteristic: AttributeHandle) -> Int {
        table.count(of: characteristic)
    }

    /// Whether all recipients of an update have subscribed since the host submitted it.
    func haveOutlived(_ update: BackendUpdate) -> Bool {
        guard update.lastSubscription < table.lastNumber else { return false }
        let oldest =
            switch update.recipients {
            case .subscribers: table.oldestNumber(for: update.characteristic)
            case .central(let central): table.number(of: central, for: update.characteristic)
            }
        return oldest.map { $0 > update.lastSubscription } ?? false
    }

    /// Whether it is still unknown if a socket is closed or about to be closed.
    func isUncertain(_ socket: SubscriptionTable.Socket) -> Bool {
        table.isUncertain(socket)
    }

    /// Whether subscriptions to a characteristic resume when bluetoothd reaches the reconnected centrals.
    func isAwaited(_ characteristic: AttributeHandle) -> Bool {
        table.isAwaited(characteristic, among: returning.keys)
    }

    // MARK: Calls of bluetoothd

    /// Whether bluetoothd still counts the earlier subscription of a central that subscribes again.
    ///
    /// Before 5.76, bluetoothd reports the end of the last subscription. If a subscription ends before
    /// `AcquireNotify` is answered, bluetoothd counts the subscription only after the answer. The same
    /// happens when a central requests indications instead of notifications (`ccc_write_cb` in
    /// gatt-database.c). If bluetoothd counted the subscription twice, it would never report the end.
    ///
    /// bluetoothd also does not reduce the count when such a central disconnects. The next subscriber is then
    /// already counted.
    func isStillCounted(_ central: Central, for characteristic: AttributeHandle) -> Bool {
        guard !context.abilities.hasSocketPerCentral else { return false }
        if table.isOnlySubscriber(central.id, of: characteristic) {
            return !miscounts.isTooLow(characteristic)
        }
        return miscounts.isTooHigh(characteristic) && !table.isCounted(characteristic)
    }

    /// Records that a central has subscribed.
    ///
    /// - Returns: bluetoothd's end of a socket for the central; `nil` if the central is reached through the
    ///   bus.
    func subscribed(_ central: Central, to characteristic: AttributeHandle) -> OwnedFileDescriptor? {
        miscounts.subscribed(
            to: characteristic,
            isCorrected: table.isOnlySubscriber(central.id, of: characteristic)
                || !table.isCounted(characteristic)
        )
        let socket = SubscriptionTable.Socket(characteristic: characteristic, central: central.id)
        let replaced = sockets.take(socket)
        let unconfirmed = confirmations.takeLost(socket, because: .replaced)
        let descriptor = context.abilities.hasSocketPerCentral ? open(socket) : nil
        let route: SubscriptionTable.Route = descriptor == nil ? .bus : .socket
        table.subscribed(central, to: characteristic, by: route)
        confirmations.joined(characteristic)
        security.subscribed(central, to: characteristic)
        reporter.report(.subscribed(subscription(to: characteristic, of: central, by: route)))
        // The confirmations end only now, because the host now knows that they belong to the earlier
        // subscription.
        confirmations.end(unconfirmed)
        replaced?.close()
        return descriptor
    }

    /// Records an answer to `AcquireNotify` that has just been sent.
    ///
    /// bluetoothd counts a subscription when it handles the answer.
    func answered(_ characteristic: AttributeHandle, of central: Central.ID, isFollowedByStart: Bool) {
        let number = unsettledAnswers.answered(characteristic, isFollowedByStart: isFollowedByStart)
        turns.onAnswer { [weak self] in
            guard let self, unsettledAnswers.settled(number) else { return }
            let countsOthers = table.isCounted(characteristic, besides: central)
            miscounts.answerDropped(characteristic, countsOthers: countsOthers)
        }
    }

    /// Records a call of `StartNotify`, which does not name the subscriber.
    func started(_ characteristic: AttributeHandle) {
        guard !unsettledAnswers.started(characteristic) else { return }
        security.strangerSubscribed(to: characteristic)
        table.subscribedByStranger(characteristic)
        confirmations.joined(characteristic)
        reporter.report(.subscribed(subscription(to: characteristic, of: nil, by: .bus)))
    }

    /// Records a call of `StopNotify`, which means that bluetoothd no longer counts a subscriber.
    ///
    /// If bluetoothd has called before it counts a new subscription, or counts too low, one of several
    /// centrals is still subscribed. Nothing shows which central this is, so all centrals stay subscribed.
    func stopped(_ characteristic: AttributeHandle) {
        guard !unsettledAnswers.hasSome(for: characteristic),
            !miscounts.isTooLow(characteristic) || table.count(of: characteristic) < 2
        else { return }
        miscounts.stopped(characteristic)
        for central in table.stopped(characteristic) {
            reporter.report(.unsubscribed(characteristic, by: central))
        }
        security.strangersUnsubscribed(from: characteristic)
        reporter.report(.unsubscribed(characteristic, by: nil))
    }

    // MARK: Connections

    /// Records that a central is connected.
    func connected(_ central: Central) {
        if table.connected(central) { awaitChannel(of: central.id) }
    }

    /// Resumes the subscriptions of a central that has reconnected.
    ///
    /// bluetoothd reports a connection before the connection has the channel for ATT. The reason is that the
    /// kernel first requests the features of the central (`hci_le_remote_feat_complete_evt` in hci_event.c).
    /// Until then, bluetoothd drops the values for this central (`send_notification_to_device` in
    /// gatt-database.c). The channel exists when bluetoothd forwards a request of the central or has found
    /// its services. A configuration can disable this search, so the subscriptions also resume after a time.
    func resume(_ central: Central.ID) {
        guard returning.removeValue(forKey: central) != nil, let central = devices.central(central) else {
            return
        }
        for characteristic in table.resumed(central) {
            confirmations.joined(characteristic)
            reporter.report(.subscribed(subscription(to: characteristic, of: central, by: .bus)))
        }
        delegate?.routesChanged()
    }

    private func awaitChannel(of central: Central.ID) {
        lastReturn += 1
        let number = lastReturn
        returning[central] = number
        _ = turns.schedule(after: Self.attachment) { [weak self] in
            guard let self, returning[central] == number else { return }
            resume(central)
        }
    }

    /// Records changes of a connected central.
    func changed(_ central: Central) {
        table.changed(central)
    }

    /// Records that a connected central has shown its lasting address.
    ///
    /// bluetoothd no longer reads the sockets of the central's subscriptions. If bluetoothd cannot reach the
    /// central through the bus either, the subscriptions end, and the central can subscribe again.
    func identified(_ central: Central) {
        let (characteristics, areFound) = table.identified(central)
        for characteristic in characteristics {
            drop(
                SubscriptionTable.Socket(characteristic: characteristic, central: central.id),
                because: .addressChanged
            )
            if !areFound { reporter.report(.subscriptionLost(characteristic, by: central.id)) }
        }
        settleRoutes()
    }

    /// Records that a central has disconnected, and reports it.
    ///
    /// - Returns: The part that remains to be settled, for ``settleLater(_:)``.
    func disconnected(_ central: Central, because reason: DisconnectionReason) -> Leaving {
        returning[central.id] = nil
        let characteristics = table.subscriptions(of: central.id)
        let endangered = table.disconnected(central)
        // This report precedes the next updates of the host for the remaining subscribers.
        reportRerouted()
        // This report precedes the ends of updates that it causes. Updates in flight have not arrived.
        reporter.report(.disconnected(central.id, reason: reason))
        for socket in sockets.all(of: central.id) { drop(socket, because: .gone(central.id)) }
        // Ends the updates of sockets that were closed a moment before.
        confirmations.lost(from: central.id, because: .gone(central.id))
        let settling = characteristics.filter { characteristic in
            confirmations.left(characteristic, remaining: table.count(of: characteristic))
        }
        let last = characteristics.filter { characteristic in
            !context.abilities.hasSocketPerCentral && !central.isBonded && !table.isCounted(characteristic)
                && miscounts.lastLeft(characteristic)
        }
        if devices.connectedCount == 0 { confirmations.allLeft() }
        return Leaving(central: central.id, endangered: endangered, settling: settling, last: last)
    }

    /// Settles the subscriptions of a disconnected central after bluetoothd has settled them.
    func settleLater(_ leaving: Leaving) {
        turns.afterMoment { [weak self] in
            guard let self else { return }
            table.hasLeft(leaving.central)
            forgetDanger(to: leaving.endangered)
            for characteristic in leaving.last { miscounts.settleLeaving(characteristic) }
            for characteristic in leaving.settling {
                confirmations.settleLeaving(characteristic, remaining: table.count(of: characteristic))
            }
        }
    }

    /// Records that this program is about to forget a central.
    ///
    /// A central that is already disconnected has not disconnected because of this.
    func willForget(_ central: Central.ID) {
        table.hasLeft(central)
    }

    /// Records that bluetoothd has forgotten a central.
    func forgotten(_ central: Central.ID) {
        table.forgotten(central)
    }

    // MARK: Removed services

    /// Ends everything that concerns a characteristic that bluetoothd has removed.
    func removed(_ characteristic: AttributeHandle) {
        for socket in sockets.all(of: characteristic) { drop(socket, because: .removed) }
        confirmations.removed(characteristic, because: .removed)
        table.removed(characteristic)
        miscounts.stopped(characteristic)
        unsettledAnswers.removed(characteristic)
        security.removed(characteristic)
    }

    // MARK: Routes

    /// Records that a value is sent to all subscribers through the bus.
    func announced(_ characteristic: AttributeHandle) {
        let endangered = table.announced(characteristic)
        reportRerouted()
        if endangered.isEmpty { return }
        turns.afterMoment { [weak self] in self?.forgetDanger(to: endangered) }
    }

    /// Reports subscribers whose route has changed, and sends the updates that have waited for the change.
    func settleRoutes() {
        reportRerouted()
        delegate?.routesChanged()
    }

    /// Reports subscribers whose route has changed.
    private func reportRerouted() {
        for (characteristic, subscriber) in table.takeRerouted() {
            reporter.report(
                .subscriptionChanged(
                    subscription(to: characteristic, of: subscriber.central, by: subscriber.route)
                )
            )
        }
    }

    /// Ends the danger to sockets.
    ///
    /// By now, bluetoothd has closed the endangered sockets, or does not close them.
    private func forgetDanger(to sockets: [SubscriptionTable.Socket]) {
        for socket in sockets { table.forgetDanger(to: socket) }
        settleRoutes()
    }

    /// Creates a subscription for the host.
    private func subscription(
        to characteristic: AttributeHandle,
        of central: Central?,
        by route: SubscriptionTable.Route
    ) -> BackendSubscription {
        BackendSubscription(
            characteristic: characteristic,
            central: central,
            number: table.number(of: central?.id, for: characteristic) ?? 0,
            isAddressable: route == .socket,
            // See `UpdateRouting.route(of:)`.
            sharesUpdatesForAll: context.isIndicated(characteristic)
        )
    }

    // MARK: Sockets

    private func open(_ socket: SubscriptionTable.Socket) -> OwnedFileDescriptor? {
        sockets.open(socket) { [weak self] event in
            guard let self else { return }
            switch event {
            case .packet: confirmations.confirmed(.socket(socket))
            case .closed: closed(socket)
            }
        }
    }

    private func closed(_ socket: SubscriptionTable.Socket) {
        defer { settleRoutes() }
        guard table.closed(socket) else {
            // If an update was lost with the socket and requires confirmation, the bus may send it.
            reportRerouted()
            return drop(socket, because: reasonForEnd(of: socket))
        }
        sockets.close(socket)
        turns.afterMoment { [weak self] in self?.explain(socket) }
    }

    /// Finds the reason for the end of a socket a moment after this end.
    ///
    /// By now, it is known whether the central of the socket has disconnected.
    private func explain(_ socket: SubscriptionTable.Socket) {
        let hasUnsubscribed = table.explain(socket)
        reportRerouted()
        if sockets.packets(for: socket) == nil { drop(socket, because: reasonForEnd(of: socket)) }
        if hasUnsubscribed { reporter.report(.unsubscribed(socket.characteristic, by: socket.central)) }
        settleRoutes()
    }

    /// Returns the reason why no confirmation arrives any more from a closed socket.
    ///
    /// If the central of the socket is still subscribed, bluetoothd has closed the socket by mistake.
    private func reasonForEnd(of socket: SubscriptionTable.Socket) -> PeripheralError {
        let isSubscribed = table.subscriptions(of: socket.central).contains(socket.characteristic)
        return isSubscribed ? .confirmationLost : .closed
    }

    private func drop(_ socket: SubscriptionTable.Socket, because failure: PeripheralError) {
        sockets.close(socket)
        confirmations.lost(socket, because: failure)
    }
}

extension PeripheralError {
    fileprivate static let replaced = PeripheralError(
        code: .notSubscribed,
        message: "The central subscribed again and did not confirm the indication."
    )

    fileprivate static let confirmationLost = PeripheralError(
        code: .unconfirmed,
        message:
            "bluetoothd closed the socket for the confirmation when another central disconnected. "
            + "The central may have received the value."
    )

    fileprivate static let addressChanged = PeripheralError(
        code: .notSubscribed,
        message:
            "The central showed another address while pairing, and bluetoothd sends nothing more to its earlier "
            + "subscriptions. The central may have received the value."
    )

    fileprivate static let removed = PeripheralError(
        code: .serviceRemoved,
        message: "The program removed the service before the central confirmed the indication."
    )

    fileprivate static let closed = PeripheralError(
        code: .notSubscribed,
        message: "The central unsubscribed or disconnected before it confirmed the indication."
    )

    fileprivate static func gone(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .disconnected, message: "Central \(central) has disconnected.")
    }
}
