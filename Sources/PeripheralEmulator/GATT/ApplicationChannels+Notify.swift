internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

extension ApplicationChannels {
    /// The first version that sends confirmations through the socket.
    private static let confirmingSockets = BlueZVersion(major: 5, minor: 80)

    /// Handles a change of a central's configuration, even if the central was forgotten.
    func configurationChanged(_ change: SubscriptionChange) {
        let handle = change.characteristic
        switch (change.cause, change.to) {
        case (.suspended, _), (.resumed, _):
            break
        case (_, 0):
            unsubscribed(handle, by: change.cause == .written ? change.central : nil)
        default:
            subscribed(handle, by: change.central)
        }
    }

    /// Handles the end of a subscription.
    ///
    /// For a disconnected central, `central` is `nil`. bluetoothd then closes the first socket instead of the
    /// socket of the central.
    private func unsubscribed(_ handle: AttributeHandle, by central: Central?) {
        guard let count = characteristics[handle]?.count, count > 0 else { return }
        characteristics[handle]?.count = count - 1
        switch sharing {
        case .one:
            guard count == 1 else { return }
            if characteristics[handle]?.closeFirstNotify(where: { _ in true }) == true { return }
        case .eachForAll, .each:
            let isClosed = characteristics[handle]?.closeFirstNotify {
                central == nil || $0.central == central
            }
            if isClosed == true || count > 1 { return }
        }
        if central == nil {
            stopped.append(handle)
        } else {
            remote.send(handle, "StopNotify")
        }
    }

    /// Reports the characteristics that lost their last subscriber through a disconnection.
    ///
    /// bluetoothd makes this report last.
    func reportStopped() {
        for handle in stopped { remote.send(handle, "StopNotify") }
        stopped = []
    }

    private func subscribed(_ handle: AttributeHandle, by central: Central) {
        let channels = characteristics[handle]?.notify ?? []
        let hasSocket = sharing == .one ? !channels.isEmpty : channels.contains { $0.central == central }
        guard !hasSocket, remote.objects[handle]?.acquiresNotify == true else {
            if !hasSocket { remote.send(handle, "StartNotify") }
            return count(handle)
        }
        let number = makeNumber()
        acquisitions[number] = central.linkAddress
        remote.acquireNotify(handle, for: central) { [weak self] answer in
            self?.assumeIsolated { $0.acquired(handle, for: central, number, answer) }
        }
    }

    private func count(_ handle: AttributeHandle) {
        characteristics[handle, default: Characteristic()].count += 1
    }

    private func acquired(
        _ handle: AttributeHandle,
        for central: Central,
        _ number: Int,
        _ result: Result<[BusValue], BusError>
    ) {
        // The subscription or the service has ended in the meantime, so bluetoothd discards the answer.
        guard acquisitions.removeValue(forKey: number) != nil, !isRemoved(handle) else { return }
        let answer: [BusValue]?
        switch result {
        case .success(let values): answer = values
        case .failure(.remote(let name, _))
        where name != "org.bluez.Error.Failed" && name != "org.freedesktop.DBus.Error.NoReply":
            answer = nil
        // Without an answer, or with exactly this error, bluetoothd stops trying. The configuration stays.
        case .failure: return
        }
        count(handle)
        guard let socket = answer.flatMap(socket(in:)) else { return remote.send(handle, "StartNotify") }
        if sharing == .one { characteristics[handle]?.close(\.notify) { _ in true } }
        let id = ObjectIdentifier(socket)
        socket.watch { [weak self] message in
            self?.assumeIsolated { $0.received(message, of: handle, from: central, by: id) }
        } closed: { [weak self] in
            self?.assumeIsolated { channels in
                channels.characteristics[handle]?.notify.removeAll { ObjectIdentifier($0.socket) == id }
            }
        }
        characteristics[handle]?.notify.append(Channel(central: central, socket: socket))
    }

    private func received(
        _ message: [UInt8],
        of handle: AttributeHandle,
        from owner: Central,
        by socket: ObjectIdentifier
    ) {
        guard sharing == .each else { return update(handle, message) }
        guard let application else { return }
        // Earlier versions ignore confirmations of values that arrived through a socket.
        let answers = remote.version >= Self.confirmingSockets
        server.deliver(message, of: handle, in: application) { subscriber in
            subscriber.central == owner
        } completion: { central, outcome in
            guard answers, outcome != .sent else { return }
            self.afterIndication(of: handle) { channels in
                if outcome == .confirmed { channels.confirm(handle, by: socket) }
            }
        }
    }

    /// Sends a confirmation to the socket.
    ///
    /// bluetoothd uses the socket even after it has freed the socket (`sock_io_conf` in gatt-database.c).
    private func confirm(_ handle: AttributeHandle, by socket: ObjectIdentifier) {
        let channel = characteristics[handle]?.notify.first { ObjectIdentifier($0.socket) == socket }
        guard let channel else { return crash() }
        _ = channel.socket.send([1])
    }

    /// Sends a new value of a characteristic to all subscribers.
    ///
    /// bluetoothd reports a confirmation even if it no longer waits for a confirmation.
    func update(_ handle: AttributeHandle, _ value: [UInt8]) {
        guard let application else { return }
        server.dropForgottenSubscribers(of: handle, in: application)
        server.deliver(value, of: handle, in: application) { _ in
            true
        } completion: { _, outcome in
            if outcome != .sent { self.afterIndication(of: handle) { $0.remote.send(handle, "Confirm") } }
        }
    }
}
