internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Who has subscribed, and the sockets that bluetoothd asks for then.
extension Centrals {
    /// Whether bluetoothd still counts the earlier subscription of a central that subscribes anew.
    ///
    /// Before 5.76, it tells the end of the last subscription. But it does not count one whose end comes
    /// before `AcquireNotify` is answered, and counts it thereafter; so, too, when a central asks for
    /// indications instead of notifications (`ccc_write_cb` in gatt-database.c). Counted once more, the end
    /// of this subscription would never be told.
    ///
    /// Nor does bluetoothd count down when such a central leaves. The next subscriber then counts already.
    func isStillCounted(_ central: Central, for characteristic: AttributeHandle) -> Bool {
        guard !abilities.hasSocketPerCentral else { return false }
        if subscriptions.isOnlySubscriber(central.id, of: characteristic) {
            return !miscounts.isTooLow(characteristic)
        }
        return miscounts.isTooHigh(characteristic) && !subscriptions.isCounted(characteristic)
    }

    /// Takes note that a central has subscribed.
    ///
    /// - Returns: bluetoothd's end of a socket for it; `nil` when it is to be reached by the bus.
    func subscribed(_ central: Central, to characteristic: AttributeHandle) -> OwnedFileDescriptor? {
        miscounts.subscribed(
            to: characteristic,
            isCorrected: subscriptions.isOnlySubscriber(central.id, of: characteristic)
                || !subscriptions.isCounted(characteristic)
        )
        let socket = SubscriptionTable.Socket(characteristic: characteristic, central: central.id)
        let replaced = sockets.removeValue(forKey: socket)
        let unconfirmed = confirmations.lost(.socket(socket), because: .replaced)
        let unsent = takeUnsent(for: socket)
        let pair = abilities.hasSocketPerCentral ? makePair(for: socket) : nil
        if let pair { sockets[socket] = pair.own }
        subscriptions.subscribed(central, to: characteristic, by: pair == nil ? .bus : .socket)
        confirmations.joined(.call(characteristic))
        if let level = notifySecurity(of: characteristic) {
            receivers.subscribed(central, to: characteristic, at: level)
        }
        report(.subscribed(subscription(to: characteristic, of: central, by: pair == nil ? .bus : .socket)))
        // Only now, when it is known that these are of the subscription that has ended with this.
        end(unconfirmed)
        for update in unsent { end(update, .failed(.outlived)) }
        replaced?.close()
        return pair?.other
    }

    /// Takes note of an answer to `AcquireNotify` that has just been sent, and with which bluetoothd counts a
    /// subscription.
    func answered(_ characteristic: AttributeHandle, of central: Central.ID, isFollowedByStart: Bool) {
        let number = unsettledAnswers.answered(characteristic, isFollowedByStart: isFollowedByStart)
        onAnswer { centrals in
            guard centrals.unsettledAnswers.settled(number) else { return }
            let countsOthers = centrals.subscriptions.isCounted(characteristic, besides: central)
            centrals.miscounts.answerDropped(characteristic, countsOthers: countsOthers)
        }
    }

    /// Ends the updates for subscriptions that do not last: they may have been submitted while their centrals
    /// were subscribing anew.
    ///
    /// - Returns: The others, for as long as nothing else happens on the loop.
    func withoutOver(_ updates: [Update]) -> [Update] {
        let over = whichAreOver(updates)
        guard !over.isEmpty else { return updates }
        for update in updates where over.contains(update.id) { end(update, .failed(.outlived)) }
        return updates.filter { !over.contains($0.id) }
    }

    /// Takes note of a call of StartNotify, which does not tell who has subscribed.
    func started(_ characteristic: AttributeHandle) {
        guard !unsettledAnswers.started(characteristic) else { return }
        receivers.strangerSubscribed(to: characteristic)
        subscriptions.subscribedByStranger(characteristic)
        confirmations.joined(.call(characteristic))
        report(.subscribed(subscription(to: characteristic, of: nil, by: .bus)))
    }

    /// Takes note of a call of StopNotify: nobody is subscribed any more, as far as bluetoothd counts.
    ///
    /// If bluetoothd has called before it counts a new subscription, or counts too low, one central of
    /// several is still subscribed. Nothing tells which, so all of them stay.
    func stopped(_ characteristic: AttributeHandle) {
        guard !unsettledAnswers.hasSome(for: characteristic),
            !miscounts.isTooLow(characteristic) || subscriptions.count(of: characteristic) < 2
        else { return }
        miscounts.stopped(characteristic)
        for central in subscriptions.stopped(characteristic) {
            report(.unsubscribed(characteristic, by: central))
        }
        receivers.strangersUnsubscribed(from: characteristic)
        report(.unsubscribed(characteristic, by: nil))
    }

    /// Takes note that a connected central has shown its lasting address.
    ///
    /// bluetoothd reads the sockets of its subscriptions no longer. Where it does not reach the central by
    /// the bus either, they end, and the central can subscribe anew.
    func identified(_ central: Central) {
        let (characteristics, areFound) = subscriptions.identified(central)
        for characteristic in characteristics {
            drop(
                SubscriptionTable.Socket(characteristic: characteristic, central: central.id),
                because: .addressChanged
            )
            if !areFound { report(.subscriptionLost(characteristic, by: central.id)) }
        }
        settleRoutes()
    }

    /// Somebody who is not to be missed by an update to all, and has not subscribed.
    func missed(_ update: Update) -> Central.ID? {
        let subscribers = subscriptions.subscribers(of: update.characteristic)
        return update.mustReach.first { missed in !subscribers.contains { $0.central.id == missed } }
    }

    /// Tells who is reached on another way than was told, and sends them what has waited for that.
    func settleRoutes() {
        reportRerouted()
        releaseHeld()
    }

    /// Tells who is reached on another way than was told.
    func reportRerouted() {
        for (characteristic, subscriber) in subscriptions.takeRerouted() {
            report(
                .subscriptionChanged(
                    subscription(to: characteristic, of: subscriber.central, by: subscriber.route)
                )
            )
        }
    }

    /// A subscription as the host is told of it.
    func subscription(
        to characteristic: AttributeHandle,
        of central: Central?,
        by route: SubscriptionTable.Route
    ) -> BackendSubscription {
        BackendSubscription(
            characteristic: characteristic,
            central: central,
            isAddressable: route == .socket,
            // See `way(of:)`.
            sharesUpdatesForAll: characteristics[characteristic]?.isIndicated == true
        )
    }

    private func makePair(
        for socket: SubscriptionTable.Socket
    ) -> (own: PacketSocket, other: OwnedFileDescriptor)? {
        PacketSocket.pair(on: connection.loop) { [weak self] event in
            self?.assumeIsolated { centrals in
                switch event {
                case .packet: centrals.end(centrals.confirmations.confirmed(.socket(socket)))
                case .closed: centrals.closed(socket)
                }
            }
        }
    }

    private func closed(_ socket: SubscriptionTable.Socket) {
        defer { settleRoutes() }
        guard subscriptions.closed(socket) else {
            // What is to be confirmed and was lost with it may go the other way.
            reportRerouted()
            return drop(socket, because: reasonForEnd(of: socket))
        }
        sockets.removeValue(forKey: socket)?.close()
        afterMoment { $0.explain(socket) }
    }

    /// By now, a central whose socket was closed a moment ago is known to be gone, if it is.
    private func explain(_ socket: SubscriptionTable.Socket) {
        let hasUnsubscribed = subscriptions.explain(socket)
        reportRerouted()
        if sockets[socket] == nil { drop(socket, because: reasonForEnd(of: socket)) }
        if hasUnsubscribed { report(.unsubscribed(socket.characteristic, by: socket.central)) }
        settleRoutes()
    }

    /// Why no confirmation comes any more by a socket that is closed: whose central is subscribed, bluetoothd
    /// has closed it by mistake.
    private func reasonForEnd(of socket: SubscriptionTable.Socket) -> PeripheralError {
        let isSubscribed = subscriptions.subscriptions(of: socket.central).contains(socket.characteristic)
        return isSubscribed ? .confirmationLost : .closed
    }

    func drop(_ socket: SubscriptionTable.Socket, because failure: PeripheralError) {
        sockets.removeValue(forKey: socket)?.close()
        end(confirmations.lost(.socket(socket), because: failure))
    }
}

extension PeripheralError {
    fileprivate static let replaced = PeripheralError(
        code: .notSubscribed,
        message: "The central has subscribed anew before it has confirmed."
    )

    fileprivate static let outlived = PeripheralError(
        code: .notSubscribed,
        message: "The central has subscribed anew before this was sent to it."
    )

    fileprivate static let confirmationLost = PeripheralError(
        code: .unconfirmed,
        message:
            "Another central has left, and with that bluetoothd has closed the socket by which the confirmation "
            + "would have come; the central may have got the value."
    )

    fileprivate static let addressChanged = PeripheralError(
        code: .notSubscribed,
        message:
            "The central has shown another address in pairing, and bluetoothd sends nothing more to the subscriptions "
            + "from before; it may have got the value."
    )

    fileprivate static let closed = PeripheralError(
        code: .notSubscribed,
        message: "The central has ended its subscription before it has confirmed, or is gone."
    )
}
