internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Who is connected, as bluetoothd tells.
extension Centrals {
    /// In this time, bluetoothd does all that a central's leaving brings about.
    private static let moment = Duration.milliseconds(250)

    /// How long bluetoothd may take at most to reach a central that is connected, if nothing tells that it does.
    private static let attachment = Duration.seconds(1)

    /// Tells the handler how many centrals there are, whenever one has come or gone.
    func onConnectionChange(_ handler: @escaping @Sendable (Int) -> Void) {
        connectionsChanged = handler
    }

    /// The central that asks for something.
    func central(_ address: DeviceAddress, mtu: Int) -> Central {
        let (central, changes) = devices.heard(from: address, mtu: mtu)
        apply(changes)
        resume(central.id)
        return central
    }

    /// The central that a device is, as far as it is known; `nil` when it is no path of a device.
    ///
    /// That it is bonded counts also while its connection has not been told.
    func central(at device: ObjectPath) -> Central? {
        Central.ID(devicePath: device).map { devices.known($0) ?? Central(address: $0.address) }
    }

    /// Takes note of all objects that bluetoothd has.
    func devicesTold(_ objects: BusValue?, below adapter: ObjectPath) {
        for entry in objects?.dictionary?.entries ?? [] {
            guard let path = entry.key.objectPath, path.isBelow(adapter),
                let device = entry.value[BlueZ.device.text]
            else { continue }
            deviceChanged(path, device)
        }
    }

    func deviceChanged(_ path: ObjectPath, _ properties: BusValue) {
        apply(devices.update(path, properties))
        if properties["ServicesResolved"]?.bool == true, let id = Central.ID(devicePath: path) { resume(id) }
    }

    /// Resumes the subscriptions of a central that is back.
    ///
    /// bluetoothd reports a connection before it has the channel for ATT, since the kernel first asks the other
    /// end for its features (`hci_le_remote_feat_complete_evt` in hci_event.c). Until then, it drops the values
    /// that it is given (`send_notification_to_device` in gatt-database.c). It has the channel when it passes on a
    /// request, or has found the services of the central. That search can be switched off, so time counts, too.
    private func resume(_ central: Central.ID) {
        guard returning.removeValue(forKey: central) != nil, let central = devices.central(central) else {
            return
        }
        for characteristic in subscriptions.resumed(central) {
            confirmations.joined(.call(characteristic))
            report(.subscribed(subscription(to: characteristic, of: central, by: .bus)))
        }
        releaseHeld()
    }

    private func awaitChannel(of central: Central.ID) {
        lastReturn += 1
        let number = lastReturn
        returning[central] = number
        _ = connection.loop.schedule(after: Self.attachment) { [weak self] in
            self?.assumeIsolated { centrals in
                if centrals.returning[central] == number { centrals.resume(central) }
            }
        }
    }

    /// Takes note that this program has a central forgotten: one that is away has not left because of that.
    func willForget(_ central: Central.ID) {
        subscriptions.hasLeft(central)
    }

    func deviceRemoved(_ path: ObjectPath) {
        apply(devices.remove(path))
    }

    private func apply(_ changes: [DeviceTable.Change]) {
        for change in changes {
            switch change {
            case .connected(let central):
                receivers.connected(central)
                report(.connected(central))
                if subscriptions.connected(central) { awaitChannel(of: central.id) }
                connectionsChanged?(devices.connectedCount)
            case .changed(let central):
                receivers.connected(central)
                subscriptions.changed(central)
                report(.connected(central))
            case .identified(let central):
                identified(central)
            case .disconnected(let central):
                disconnected(central)
                connectionsChanged?(devices.connectedCount)
            case .forgotten(let central):
                receivers.forgotten(central)
                subscriptions.forgotten(central)
                report(.forgotten(central))
            }
        }
    }

    private func disconnected(_ central: Central) {
        receivers.disconnected(central)
        returning[central.id] = nil
        let characteristics = subscriptions.subscriptions(of: central.id)
        let endangered = subscriptions.disconnected(central)
        // Before anybody can send something for those who are left.
        reportRerouted()
        // Before the ends that it brings about: what was on its way has not arrived.
        report(.disconnected(central.id))
        for socket in sockets.keys where socket.central == central.id {
            drop(socket, because: .gone(central.id))
        }
        // Those of sockets that were closed a moment before.
        end(confirmations.lost(from: central.id, because: .gone(central.id)))
        let settling = characteristics.filter { characteristic in
            let (ends, asks) = confirmations.left(
                characteristic,
                remaining: subscriptions.count(of: characteristic)
            )
            end(ends)
            return asks
        }
        let last = characteristics.filter { characteristic in
            !abilities.hasSocketPerCentral && !central.isBonded && !subscriptions.isCounted(characteristic)
                && miscounts.lastLeft(characteristic)
        }
        if devices.connectedCount == 0 { end(confirmations.allLeft()) }
        settleDepartures(for: central.id)
        settleRoutes()
        afterMoment { centrals in
            centrals.subscriptions.hasLeft(central.id)
            centrals.forgetDanger(to: endangered)
            for characteristic in last { centrals.miscounts.settleLeaving(characteristic) }
            for characteristic in settling {
                let remaining = centrals.subscriptions.count(of: characteristic)
                centrals.end(centrals.confirmations.settleLeaving(characteristic, remaining: remaining))
            }
        }
    }

    /// By now, sockets that were to be closed by mistake are closed, or will not be.
    func forgetDanger(to sockets: [SubscriptionTable.Socket]) {
        for socket in sockets { subscriptions.forgetDanger(to: socket) }
        settleRoutes()
    }

    /// Runs the body once all has come in that a central's leaving brings about.
    ///
    /// The moment is for bluetoothd. However late the bus is and this loop, what bluetoothd has told until then comes
    /// before its next answer.
    func afterMoment(_ body: @escaping @Sendable (isolated Centrals) -> Void) {
        _ = connection.loop.schedule(after: Self.moment) { [weak self] in
            self?.assumeIsolated { $0.afterAnswer(body) }
        }
    }

    func afterAnswer(_ body: @escaping @Sendable (isolated Centrals) -> Void) {
        onAnswer { centrals in
            // A socket that has ended meanwhile is found ended before any timer is due.
            _ = centrals.connection.loop.schedule(after: .zero) { [weak centrals] in
                centrals?.assumeIsolated(body)
            }
        }
    }

    /// Runs the body once bluetoothd has taken all that it has been sent so far: it takes messages in their order.
    ///
    /// The body runs after all that bluetoothd has told before, and before all that it tells later.
    func onAnswer(_ body: @escaping @Sendable (isolated Centrals) -> Void) {
        connection.assumeIsolated { [weak self] connection in
            // The arguments are well-formed.
            try? connection.call(BlueZ.name, "/", BlueZ.peer, "Ping") { answer in
                switch answer {
                case .failure(.disconnected): break
                // It has not even come so far.
                case .failure(.timedOut): self?.assumeIsolated { $0.onAnswer(body) }
                default: self?.assumeIsolated(body)
                }
            }
        }
    }
}

extension PeripheralError {
    fileprivate static func gone(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .disconnected, message: "Central \(central) is gone.")
    }
}
