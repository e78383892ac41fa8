internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The sender of updates, as ``Subscriptions`` need it.
protocol SubscriptionsDelegate: AnyObject {
    /// Sends updates that have waited for a change of the routes.
    func routesChanged()

    /// Takes out the updates for a subscription that is over and that were not sent yet.
    func takeUnsent(for socket: SubscriptionTable.Socket) -> [BackendUpdate]
}

/// Tracks which central has subscribed to what, by what bluetoothd reports, and reports that to the host.
///
/// Belongs to the event loop.
final class Subscriptions {
    /// The subscriptions of a central that has disconnected, for ``settleLater(_:)``.
    struct Leaving {
        fileprivate var central: Central.ID
        fileprivate var endangered: [SubscriptionTable.Socket]
        /// The characteristics whose confirmations are to be settled.
        fileprivate var settling: [AttributeHandle]
        /// The characteristics that had no other subscriber.
        fileprivate var last: [AttributeHandle]
    }

    /// The longest time that bluetoothd takes to reach a central that is connected, if nothing shows that it
    /// does.
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
    /// The answers to `AcquireNotify` that bluetoothd may not have taken yet.
    private var unsettledAnswers = UnsettledAnswers()
    /// The centrals that have returned and that bluetoothd may not reach yet, each with the number of its
    /// timer.
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

    /// How many have subscribed, as far as is known.
    func count(of characteristic: AttributeHandle) -> Int {
        table.count(of: characteristic)
    }

    /// Whether it is not known yet if a socket is closed, or is about to be.
    func isUncertain(_ socket: SubscriptionTable.Socket) -> Bool {
        table.isUncertain(socket)
    }

    /// Whether subscriptions to a characteristic resume when bluetoothd reaches the centrals that have
    /// returned.
    func isAwaited(_ characteristic: AttributeHandle) -> Bool {
        table.isAwaited(characteristic, among: returning.keys)
    }

    // MARK: Calls of bluetoothd

    /// Whether bluetoothd still counts the earlier subscription of a central that subscribes again.
    ///
    /// Before 5.76, bluetoothd reports the end of the last subscription. It does not count a subscription
    /// whose end comes before `AcquireNotify` is answered, and counts it after the answer. The same happens
    /// when a central asks for indications instead of notifications (`ccc_write_cb` in gatt-database.c). If
    /// the subscription were counted twice, its end would never be reported.
    ///
    /// Nor does bluetoothd count down when such a central disconnects. The next subscriber then counts
    /// already.
    func isStillCounted(_ central: Central, for characteristic: AttributeHandle) -> Bool {
        guard !context.abilities.hasSocketPerCentral else { return false }
        if table.isOnlySubscriber(central.id, of: characteristic) {
            return !miscounts.isTooLow(characteristic)
        }
        return miscounts.isTooHigh(characteristic) && !table.isCounted(characteristic)
    }

    /// Records that a central has subscribed.
    ///
    /// - Returns: bluetoothd's end of a socket for the central; `nil` when it is to be reached by the bus.
    func subscribed(_ central: Central, to characteristic: AttributeHandle) -> OwnedFileDescriptor? {
        miscounts.subscribed(
            to: characteristic,
            isCorrected: table.isOnlySubscriber(central.id, of: characteristic)
                || !table.isCounted(characteristic)
        )
        let socket = SubscriptionTable.Socket(characteristic: characteristic, central: central.id)
        let replaced = sockets.take(socket)
        let unconfirmed = confirmations.takeLost(socket, because: .replaced)
        let unsent = delegate?.takeUnsent(for: socket) ?? []
        let descriptor = context.abilities.hasSocketPerCentral ? open(socket) : nil
        let route: SubscriptionTable.Route = descriptor == nil ? .bus : .socket
        table.subscribed(central, to: characteristic, by: route)
        confirmations.joined(characteristic)
        security.subscribed(central, to: characteristic)
        reporter.report(.subscribed(subscription(to: characteristic, of: central, by: route)))
        // Only now, when the host knows that these belong to the earlier subscription.
        confirmations.end(unconfirmed)
        for update in unsent { reporter.ended(update.id, .failed(.outlived)) }
        replaced?.close()
        return descriptor
    }

    /// Records an answer to `AcquireNotify` that has just been sent; with it, bluetoothd counts a
    /// subscription.
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

    /// Records a call of `StopNotify`: no central is subscribed any more, as far as bluetoothd counts.
    ///
    /// If bluetoothd has called before it counts a new subscription, or counts too low, one central of
    /// several is still subscribed. Nothing shows which, so all of them stay.
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

    /// Resumes the subscriptions of a central that has returned.
    ///
    /// bluetoothd reports a connection before it has the channel for ATT, since the kernel first asks the
    /// other end for its features (`hci_le_remote_feat_complete_evt` in hci_event.c). Until then, it drops
    /// the values that it is given (`send_notification_to_device` in gatt-database.c). It has the channel
    /// when it passes on a request, or has found the services of the central. That search can be switched
    /// off, so time counts, too.
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

    /// Records what has changed about a connected central.
    func changed(_ central: Central) {
        table.changed(central)
    }

    /// Records that a connected central has shown its lasting address.
    ///
    /// bluetoothd does not read the sockets of its subscriptions any more. Where bluetoothd does not reach
    /// the central by the bus either, the subscriptions end, and the central can subscribe again.
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

    /// Records that a central has disconnected.
    ///
    /// - Returns: What remains to be settled, for ``settleLater(_:)``.
    func disconnected(_ central: Central) -> Leaving {
        returning[central.id] = nil
        let characteristics = table.subscriptions(of: central.id)
        let endangered = table.disconnected(central)
        // Before the host can send something to the remaining subscribers.
        reportRerouted()
        // Before the ends of updates that it causes: what was in flight has not arrived.
        reporter.report(.disconnected(central.id))
        for socket in sockets.all(of: central.id) { drop(socket, because: .gone(central.id)) }
        // The updates of sockets that were closed a moment before.
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

    /// Settles the subscriptions of a central that has disconnected, when bluetoothd has done the same.
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

    /// Records that this program is about to forget a central: a central that is away has not left because of
    /// that.
    func willForget(_ central: Central.ID) {
        table.hasLeft(central)
    }

    /// Records that bluetoothd has forgotten a central.
    func forgotten(_ central: Central.ID) {
        table.forgotten(central)
    }

    // MARK: Routes

    /// Records that a value goes to all subscribers by the bus.
    func announced(_ characteristic: AttributeHandle) {
        let endangered = table.announced(characteristic)
        reportRerouted()
        if endangered.isEmpty { return }
        turns.afterMoment { [weak self] in self?.forgetDanger(to: endangered) }
    }

    /// Reports subscribers whose route has changed, and sends the updates that have waited for that.
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

    /// Ends the danger to sockets: those that were to be closed by mistake are closed by now, or will not be.
    private func forgetDanger(to sockets: [SubscriptionTable.Socket]) {
        for socket in sockets { table.forgetDanger(to: socket) }
        settleRoutes()
    }

    /// A subscription as the host sees it.
    private func subscription(
        to characteristic: AttributeHandle,
        of central: Central?,
        by route: SubscriptionTable.Route
    ) -> BackendSubscription {
        BackendSubscription(
            characteristic: characteristic,
            central: central,
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
            // An update that was lost with the socket, and is to be confirmed, may go by the bus.
            reportRerouted()
            return drop(socket, because: reasonForEnd(of: socket))
        }
        sockets.close(socket)
        turns.afterMoment { [weak self] in self?.explain(socket) }
    }

    /// Finds out why a socket was closed a moment ago: by now, it is known whether its central has
    /// disconnected.
    private func explain(_ socket: SubscriptionTable.Socket) {
        let hasUnsubscribed = table.explain(socket)
        reportRerouted()
        if sockets.packets(for: socket) == nil { drop(socket, because: reasonForEnd(of: socket)) }
        if hasUnsubscribed { reporter.report(.unsubscribed(socket.characteristic, by: socket.central)) }
        settleRoutes()
    }

    /// Why no confirmation arrives any more by a socket that is closed.
    ///
    /// If its central is still subscribed, bluetoothd has closed the socket by mistake.
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
    /// An update was not sent before its central subscribed again.
    static let outlived = PeripheralError(
        code: .notSubscribed,
        message: "The central subscribed again before this update was sent to it."
    )

    fileprivate static let replaced = PeripheralError(
        code: .notSubscribed,
        message: "The central subscribed again before it confirmed."
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

    fileprivate static let closed = PeripheralError(
        code: .notSubscribed,
        message: "The central ended its subscription or disconnected before it confirmed."
    )

    fileprivate static func gone(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .disconnected, message: "Central \(central) has disconnected.")
    }
}
