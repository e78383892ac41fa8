internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The centrals of an adapter: who is connected, who has subscribed to what, and the ways to them.
///
/// An actor of the event loop, so that calls and signals enter it without a change of thread.
actor Centrals {
    /// What the running bluetoothd can do.
    struct Abilities: Hashable {
        let version: BlueZVersion
        /// Each subscriber can have a socket of its own (BlueZ 5.76).
        ///
        /// Before, one socket serves all: then none is taken, and the calls merely tell who has subscribed.
        var hasSocketPerCentral = false
        /// Confirmations of indications come back on the socket (BlueZ 5.80).
        var confirmsOnSockets = false
        /// It tells the handles that it has given (not BlueZ 5.74 and 5.75, which refuse an application that asks).
        var tellsHandles = true

        init(of version: BlueZVersion) {
            self.version = version
            hasSocketPerCentral = version >= "5.76"
            confirmsOnSockets = version >= "5.80"
            tellsHandles = !(("5.74" as BlueZVersion)..."5.75").contains(version)
        }
    }

    /// A characteristic that is updated.
    struct Characteristic: Hashable {
        var path: ObjectPath
        /// Whether centrals may ask for indications.
        var isIndicated: Bool
        /// What it demands of its subscribers' links.
        var security: SecurityLevel
    }

    /// In this time, bluetoothd does all that a central's leaving brings about.
    private static let moment = Duration.milliseconds(250)

    let connection: BusConnection
    let characteristics: [AttributeHandle: Characteristic]
    let linkSecurity: any LinkSecurity
    let logger: Logger
    let report: @Sendable (BackendEvent) -> Void
    /// The path of the adapter; `nil` until it is chosen.
    private(set) var adapter: ObjectPath?
    var abilities = Abilities(of: .v5_66)

    private var connectionsChanged: (@Sendable (Int) -> Void)?
    private var devices = DeviceTable()
    private(set) var subscriptions = SubscriptionTable()
    private(set) var sockets: [SubscriptionTable.Socket: PacketSocket] = [:]
    var confirmations = Confirmations()
    var receivers = SecuredReceivers()
    /// The calls of StartNotify that are to come for subscribers who are known already.
    private var expectedStarts: [AttributeHandle: Int] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.loop.asUnownedSerialExecutor()
    }

    init(
        on connection: BusConnection,
        characteristics: [AttributeHandle: Characteristic],
        linkSecurity: any LinkSecurity,
        logger: Logger,
        report: @escaping @Sendable (BackendEvent) -> Void
    ) {
        self.connection = connection
        self.characteristics = characteristics
        self.linkSecurity = linkSecurity
        self.logger = logger
        self.report = report
    }

    /// Closes all sockets; nothing more is sent or heard.
    func close() {
        connectionsChanged = nil
        let open = sockets.values
        sockets = [:]
        for socket in open { socket.close() }
    }

    func setAbilities(_ abilities: Abilities) {
        self.abilities = abilities
    }

    /// Says whose centrals these are.
    func setAdapter(_ adapter: ObjectPath) {
        if self.adapter == nil { logJudgement(of: adapter) }
        self.adapter = adapter
    }
}

// MARK: - Connections

extension Centrals {
    /// Tells the handler how many centrals there are, whenever one has come or gone.
    func onConnectionChange(_ handler: @escaping @Sendable (Int) -> Void) {
        connectionsChanged = handler
    }

    /// The central that asks for something.
    func central(_ address: DeviceAddress, mtu: Int) -> Central {
        let (central, changes) = devices.heard(from: address, mtu: mtu)
        apply(changes)
        return central
    }

    /// The central that a device is, as far as it is known; `nil` when it is no path of a device.
    func central(at device: ObjectPath) -> Central? {
        Central.ID(devicePath: device).map { devices.central($0) ?? Central(address: $0.address) }
    }

    func deviceChanged(_ path: ObjectPath, _ properties: BusValue) {
        apply(devices.update(path, properties))
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
                for characteristic in subscriptions.connected(central) {
                    confirmations.joined(.call(characteristic))
                    reportSubscription(of: central, to: characteristic)
                }
                connectionsChanged?(devices.connectedCount)
            case .changed(let central):
                receivers.connected(central)
                subscriptions.changed(central)
                report(.connected(central))
            case .disconnected(let central):
                disconnected(central)
                connectionsChanged?(devices.connectedCount)
            case .forgotten(let central):
                receivers.forgotten(central)
                subscriptions.forgotten(central)
            }
        }
    }

    private func disconnected(_ central: Central) {
        receivers.disconnected(central)
        let characteristics = subscriptions.subscriptions(of: central.id)
        let endangered = subscriptions.disconnected(central)
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
        report(.disconnected(central.id))
        afterMoment { centrals in
            centrals.subscriptions.hasLeft(central.id)
            for socket in endangered { centrals.subscriptions.forgetDanger(to: socket) }
            for characteristic in settling {
                let remaining = centrals.subscriptions.count(of: characteristic)
                centrals.end(centrals.confirmations.settleLeaving(characteristic, remaining: remaining))
            }
        }
    }

    /// Runs the body once all has come in that a central's leaving brings about.
    ///
    /// The moment is for bluetoothd. However late the bus is and this loop, what bluetoothd has told until then comes
    /// before its next answer.
    private func afterMoment(_ body: @escaping @Sendable (isolated Centrals) -> Void) {
        _ = connection.loop.schedule(after: Self.moment) { [weak self] in
            self?.assumeIsolated { $0.afterAnswer(body) }
        }
    }

    private func afterAnswer(_ body: @escaping @Sendable (isolated Centrals) -> Void) {
        let loop = connection.loop
        connection.assumeIsolated { connection in
            // The arguments are well-formed.
            try? connection.call(BlueZ.name, "/", BlueZ.peer, "Ping") { [weak self] answer in
                if case .failure(.disconnected) = answer { return }
                // A socket that has ended meanwhile is found ended before any timer is due.
                _ = loop.schedule(after: .zero) { self?.assumeIsolated(body) }
            }
        }
    }
}

// MARK: - Subscriptions

extension Centrals {
    /// Takes note that a central has subscribed.
    ///
    /// - Returns: bluetoothd's end of a socket for it; `nil` when it is to be reached by the bus.
    func subscribed(_ central: Central, to characteristic: AttributeHandle) -> OwnedFileDescriptor? {
        let socket = SubscriptionTable.Socket(characteristic: characteristic, central: central.id)
        drop(socket, because: .replaced)
        let pair = abilities.hasSocketPerCentral ? makePair(for: socket) : nil
        if let pair {
            sockets[socket] = pair.own
        } else {
            expectedStarts[characteristic, default: 0] += 1
        }
        subscriptions.subscribed(central, to: characteristic, by: pair == nil ? .bus : .socket)
        confirmations.joined(.call(characteristic))
        if let level = notifySecurity(of: characteristic) {
            receivers.subscribed(central, to: characteristic, at: level)
        }
        reportSubscription(of: central, to: characteristic)
        return pair?.other
    }

    /// Takes note of a call of StartNotify, which does not tell who has subscribed.
    func started(_ characteristic: AttributeHandle) {
        guard let expected = expectedStarts[characteristic], expected > 0 else {
            receivers.strangerSubscribed(to: characteristic)
            subscriptions.subscribedByStranger(characteristic)
            confirmations.joined(.call(characteristic))
            return report(.subscribed(BackendSubscription(characteristic: characteristic, central: nil)))
        }
        expectedStarts[characteristic] = expected - 1
    }

    /// Takes note of a call of StopNotify: nobody is subscribed any more, as far as bluetoothd counts.
    func stopped(_ characteristic: AttributeHandle) {
        for central in subscriptions.stopped(characteristic) {
            report(.unsubscribed(characteristic, by: central))
        }
        receivers.strangersUnsubscribed(from: characteristic)
        report(.unsubscribed(characteristic, by: nil))
    }

    private func reportSubscription(of central: Central, to characteristic: AttributeHandle) {
        report(.subscribed(BackendSubscription(characteristic: characteristic, central: central)))
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
        guard subscriptions.closed(socket) else { return drop(socket, because: .closed) }
        sockets.removeValue(forKey: socket)?.close()
        afterMoment { $0.explain(socket) }
    }

    /// By now, a central whose socket was closed a moment ago is known to be gone, if it is.
    private func explain(_ socket: SubscriptionTable.Socket) {
        if sockets[socket] == nil { drop(socket, because: .closed) }
        guard subscriptions.explain(socket) else { return }
        report(.unsubscribed(socket.characteristic, by: socket.central))
    }

    private func drop(_ socket: SubscriptionTable.Socket, because failure: PeripheralError) {
        sockets.removeValue(forKey: socket)?.close()
        end(confirmations.lost(.socket(socket), because: failure))
    }

    func end(_ ends: [Confirmations.End]) {
        for end in ends { report(.updateEnded(end.update, end.outcome)) }
    }
}

extension PeripheralError {
    fileprivate static func gone(_ central: Central.ID) -> PeripheralError {
        PeripheralError(code: .disconnected, message: "Central \(central) is gone.")
    }

    fileprivate static let replaced = PeripheralError(
        code: .notSubscribed,
        message: "The central has subscribed anew before it has confirmed."
    )

    fileprivate static let closed = PeripheralError(
        code: .notSubscribed,
        message: "The central has ended its subscription before it has confirmed, or is gone."
    )
}
