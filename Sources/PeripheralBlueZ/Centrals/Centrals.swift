internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The centrals of an adapter, with their connections, subscriptions and routes.
///
/// The actor connects the parts that do the work, and passes calls to these parts. It runs on the event loop,
/// so calls and signals enter the actor without a change of threads. The parts are confined to the actor.
actor Centrals {
    /// The abilities of the running bluetoothd.
    struct Abilities: Hashable {
        let version: BlueZVersion
        /// Whether each subscriber can have a separate socket.
        ///
        /// If not, no socket is used, and the calls only show which central has subscribed.
        let hasSocketPerCentral: Bool
        /// Whether confirmations of indications arrive on the socket.
        let confirmsOnSockets: Bool
        /// Whether bluetoothd reports the handles that it has assigned.
        let reportsHandles: Bool

        init(of version: BlueZVersion) {
            self.version = version
            hasSocketPerCentral = version >= .socketPerSubscriber
            confirmsOnSockets = version >= .confirmationsOnSockets
            reportsHandles = version.reportsHandles
        }
    }

    /// A characteristic that sends updates.
    struct Characteristic {
        var uuid: BluetoothUUID
        var path: ObjectPath
        /// Whether centrals may request indications.
        var isIndicated: Bool
        /// Whether centrals may request notifications.
        var isNotified = false
        /// The security that the characteristic requires of its subscribers' links.
        var security: SecurityLevel
        /// The handles on the air; `nil` if they are not known.
        var handles: AssignedHandles?
    }

    /// A signal strength that a controller reports instead of a measurement.
    private static let noMeasurement: Int8 = 127

    nonisolated let connection: BusConnection
    /// Reports an event to the host.
    nonisolated let report: @Sendable (BackendEvent) -> Void
    private nonisolated let submitted = SubmittedUpdates()
    private let context: CentralsContext
    private let turns: DaemonTurns
    private let reporter: EventReporter
    private let devices: DeviceRegister
    private let links: Links
    private let sockets: SubscriberSockets
    private let security: SubscriberSecurity
    private let completion: UpdateCompletion
    private let confirmations: ConfirmationTracker
    private let subscriptions: Subscriptions
    private let connections: Connections
    private let transmitter: UpdateTransmitter
    private let listeners: ChannelListeners

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.loop.asUnownedSerialExecutor()
    }

    init(
        on connection: BusConnection,
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        log: RunLog,
        report: @escaping @Sendable (BackendEvent) -> Void
    ) {
        self.connection = connection
        self.report = report
        let context = CentralsContext()
        let turns = DaemonTurns(on: connection)
        let reporter = EventReporter(to: report, in: turns)
        let devices = DeviceRegister()
        let links = Links(of: devices, kernelLinks: kernelLinks, loop: connection.loop)
        let sockets = SubscriberSockets(on: connection.loop)
        let security = SubscriberSecurity(in: context, kernelLinks: kernelLinks, log: log)
        let completion = UpdateCompletion(
            in: context,
            devices: devices,
            sockets: sockets,
            kernelLinks: kernelLinks,
            fallbackRate: fallbackRate,
            reporter: reporter,
            turns: turns,
            loop: connection.loop
        )
        let confirmations = ConfirmationTracker(
            in: context,
            completion: completion,
            reporter: reporter,
            turns: turns
        )
        let subscriptions = Subscriptions(
            in: context,
            devices: devices,
            sockets: sockets,
            security: security,
            confirmations: confirmations,
            reporter: reporter,
            turns: turns
        )
        connections = Connections(
            devices: devices,
            links: links,
            security: security,
            subscriptions: subscriptions,
            completion: completion,
            reporter: reporter
        )
        listeners = ChannelListeners(
            kernelLinks: kernelLinks,
            connections: connections,
            devices: devices,
            turns: turns,
            loop: connection.loop
        )
        transmitter = UpdateTransmitter(
            on: connection,
            in: context,
            submitted: submitted,
            subscriptions: subscriptions,
            routing: UpdateRouting(in: context, subscriptions: subscriptions, security: security),
            sockets: sockets,
            sender: SocketSender(
                in: context,
                sockets: sockets,
                confirmations: confirmations,
                completion: completion,
                reporter: reporter,
                turns: turns
            ),
            confirmations: confirmations,
            completion: completion,
            reporter: reporter,
            turns: turns
        )
        (self.context, self.turns, self.devices, self.sockets) = (context, turns, devices, sockets)
        self.reporter = reporter
        (self.links, self.security, self.completion) = (links, security, completion)
        (self.confirmations, self.subscriptions) = (confirmations, subscriptions)
        turns.begin(for: self)
    }

    // MARK: Services

    /// Adds the characteristics of services that are about to be registered.
    func add(_ characteristics: [AttributeHandle: Characteristic]) {
        context.add(characteristics)
        if let adapter = context.adapter { security.logJudgement(of: adapter) }
    }

    /// Ends everything that concerns the characteristics of services that bluetoothd has removed.
    func remove(_ characteristics: [AttributeHandle]) {
        reporter.gatheringEnds {
            for characteristic in characteristics {
                transmitter.removed(characteristic)
                subscriptions.removed(characteristic)
            }
        }
        context.remove(characteristics)
    }

    /// Ends the unsent updates of services that are about to be removed.
    func endUnsentUpdates(of characteristics: [AttributeHandle]) {
        reporter.gatheringEnds {
            for characteristic in characteristics { transmitter.removed(characteristic) }
        }
    }

    /// Waits until bluetoothd awaits no confirmation of some characteristics, or until the limit.
    ///
    /// bluetoothd keeps a pointer to each unconfirmed indication, even if its service is removed. If centrals
    /// can choose between notifications and indications, an expected confirmation may never arrive. The wait
    /// for such a confirmation is shorter.
    ///
    /// - Returns: The centrals that have not confirmed an indication; `nil` if no confirmation is missing. If
    ///   bluetoothd does not name the central, these are all known subscribers.
    func untilConfirmed(
        of characteristics: Set<AttributeHandle>,
        within limit: Duration,
        by clock: any Clock<Duration>
    ) async -> Set<Central.ID>? {
        if let confirmed = confirmations.untilConfirmed(of: characteristics) {
            await Self.wait(for: confirmed, within: min(limit, .seconds(1)), by: clock)
        }
        let certain = characteristics.filter {
            context.characteristics[$0]?.isNotified == false || confirmations.hasConfirmed($0)
        }
        if let confirmed = confirmations.untilConfirmed(of: certain) {
            await Self.wait(for: confirmed, within: limit - min(limit, .seconds(1)), by: clock)
        }
        let missing = confirmations.missing(of: certain)
        guard !missing.isEmpty else { return nil }
        var late: Set<Central.ID> = []
        for source in missing {
            switch source {
            case .socket(let socket): late.insert(socket.central)
            case .call(let characteristic):
                late.formUnion(subscriptions.subscribers(of: characteristic).map(\.central.id))
            }
        }
        return late
    }

    private static func wait(
        for stream: AsyncStream<Void>,
        within limit: Duration,
        by clock: any Clock<Duration>
    ) async {
        await withTaskGroup { group in
            group.addTask { for await _ in stream {} }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Closes all sockets, which ends all sending and receiving.
    func close() {
        connections.onCountChange(nil)
        listeners.end()
        confirmations.stopWaiting()
        sockets.closeAll()
        completion.end()
        links.end()
    }

    // MARK: The adapter

    var abilities: Abilities { context.abilities }

    /// The method that determines which updates are completed.
    var completionReporting: CompletionReporting { completion.completionReporting }

    func setAbilities(_ abilities: Abilities) {
        let changes = abilities.reportsHandles != context.abilities.reportsHandles
        context.setAbilities(abilities)
        if changes, let adapter = context.adapter { completion.begin(on: adapter) }
    }

    func setAdapter(_ adapter: ObjectPath) {
        if context.adapter == nil { security.logJudgement(of: adapter) }
        context.setAdapter(adapter)
        links.begin(on: adapter)
        completion.begin(on: adapter)
    }

    // MARK: Connections

    var connectedCount: Int { devices.connectedCount }

    /// Calls the handler with the number of connected centrals whenever it changes.
    func onConnectionChange(_ handler: @escaping @Sendable (Int) -> Void) {
        connections.onCountChange(handler)
    }

    /// The central that makes a request.
    func central(_ address: DeviceAddress, mtu: Int) -> Central {
        connections.central(address, mtu: mtu)
    }

    /// The central of a device, as far as it is known; `nil` if the path is not the path of a device.
    func central(at device: ObjectPath) -> Central? {
        connections.central(at: device)
    }

    /// Records all objects of bluetoothd.
    func devicesReported(_ objects: BusValue?, below adapter: ObjectPath) {
        connections.devicesReported(objects, below: adapter)
    }

    func deviceChanged(_ path: ObjectPath, _ properties: BusValue) {
        connections.deviceChanged(path, properties)
    }

    func deviceDisconnected(_ path: ObjectPath, because cause: DisconnectionReason.Cause) {
        connections.deviceDisconnected(path, because: cause)
    }

    func deviceRemoved(_ path: ObjectPath) {
        connections.deviceRemoved(path)
    }

    /// Records that this program is about to forget a central.
    func willForget(_ central: Central.ID) {
        subscriptions.willForget(central)
    }

    /// Asks a central for other parameters of its link, and returns those that the central has chosen.
    func prefer(
        _ preference: ConnectionPreference,
        for central: Central.ID
    ) async throws -> ConnectionParameters {
        let units = try preference.units()
        let outcome = try links.ask(about: central) { .update(connection: $0, units) }
        for await outcome in outcome {
            guard case .changed(_, _, let parameters) = try outcome.get() else { break }
            return parameters
        }
        throw CancellationError()
    }

    /// Measures the strength of a central's signal in dBm.
    func signalStrength(of central: Central.ID) async throws -> Int {
        let outcome = try links.ask(about: central) { .readSignalStrength(connection: $0) }
        for await outcome in outcome {
            guard case .measured(_, _, let strength) = try outcome.get() else { break }
            guard strength != Self.noMeasurement else {
                throw PeripheralError(
                    code: .notSupported,
                    message: "The controller does not measure the signal strength of this connection."
                )
            }
            return Int(strength)
        }
        throw CancellationError()
    }

    // MARK: Channels

    /// Opens the listeners for L2CAP channels, and returns their numbers and the longest packets that they
    /// receive.
    func listen(
        _ declared: [BackendListener],
        preferring former: [UInt16],
        on adapter: ObjectPath,
        at address: DeviceAddress,
        for host: any PeripheralHost
    ) throws -> [(psm: UInt16, mtu: Int)] {
        try listeners.begin(declared, preferring: former, on: adapter, at: address) {
            host.open($0, of: $1, through: $2)
        }
    }

    /// Stops accepting L2CAP channels.
    func stopListening() {
        listeners.end()
    }

    // MARK: Requests

    /// Records that bluetoothd has permitted a request of a central that requires a security level.
    func served(_ central: Central, at level: SecurityLevel) {
        security.served(central, at: level)
    }

    /// Records that a central pairs, which can change its keys.
    func mayPair(_ central: Central.ID, at level: SecurityLevel) {
        security.mayPair(central, at: level)
    }

    /// Records a request of a central that expects a response.
    func asked(_ request: CompletionPace.Request, by central: Central.ID) {
        completion.received(request, from: central)
    }

    // MARK: Subscriptions

    func subscribers(of characteristic: AttributeHandle) -> [SubscriptionTable.Subscriber] {
        subscriptions.subscribers(of: characteristic)
    }

    /// Whether bluetoothd still counts the earlier subscription of a central that subscribes again.
    func isStillCounted(_ central: Central, for characteristic: AttributeHandle) -> Bool {
        subscriptions.isStillCounted(central, for: characteristic)
    }

    /// Records that a central has subscribed.
    ///
    /// - Returns: bluetoothd's end of a socket for the central; `nil` if the central is reached through the
    ///   bus.
    func subscribed(_ central: Central, to characteristic: AttributeHandle) -> OwnedFileDescriptor? {
        subscriptions.subscribed(central, to: characteristic)
    }

    /// Records an answer to `AcquireNotify` that has just been sent.
    func answered(_ characteristic: AttributeHandle, of central: Central.ID, isFollowedByStart: Bool) {
        subscriptions.answered(characteristic, of: central, isFollowedByStart: isFollowedByStart)
    }

    /// Records a call of `StartNotify`.
    func started(_ characteristic: AttributeHandle) {
        subscriptions.started(characteristic)
    }

    /// Records a call of `StopNotify`.
    func stopped(_ characteristic: AttributeHandle) {
        subscriptions.stopped(characteristic)
    }

    // MARK: Updates

    /// The updates that wait until the route to their central is certain or can change.
    var held: [BackendUpdate] { transmitter.held }

    nonisolated func submit(_ updates: [BackendUpdate]) {
        guard submitted.append(updates) else { return }
        connection.loop.execute { self.assumeIsolated { $0.transmitter.transmitSubmitted() } }
    }

    /// Ends an update that was given up.
    ///
    /// The update ends as soon as its confirmation can no longer arrive.
    nonisolated func giveUp(_ update: BackendUpdate.ID) {
        connection.loop.execute { self.assumeIsolated { $0.transmitter.giveUp(update) } }
    }

    /// Records a call of `Confirm`: a central has confirmed an indication, or has disconnected.
    func confirmed(_ characteristic: AttributeHandle) {
        confirmations.confirmed(.call(characteristic))
    }

    /// Returns when bluetoothd has sent the updates for a central that the sockets and the bus have accepted.
    ///
    /// For the bus, the caller must have received an answer of bluetoothd before.
    func untilForwarded(for central: Central.ID) async {
        while !sockets.isAllRead(for: central) {
            guard (try? await Task.sleep(for: UpdateTransmitter.readingInterval)) != nil else { return }
        }
        try? await Task.sleep(for: UpdateTransmitter.gatheringTime)
    }

    /// Stops sending, and waits until bluetoothd awaits no confirmation, or until the limit.
    ///
    /// bluetoothd uses freed memory if a confirmation arrives, or its central disconnects, after the
    /// withdrawal of the application (`conf_cb` and `sock_io_conf` in gatt-database.c). If centrals can
    /// choose between notifications and indications, an expected confirmation may never arrive.
    func untilConfirmed(within limit: Duration, by clock: any Clock<Duration>) async {
        transmitter.end()
        guard let confirmed = confirmations.untilConfirmed() else { return }
        await Self.wait(for: confirmed, within: limit, by: clock)
        confirmations.stopWaiting()
    }

    // MARK: Work of the parts

    /// Runs work that a part has stored in ``DaemonTurns``.
    func resume(_ number: Int, with result: Result<Void, BusError> = .success(())) {
        turns.resume(number, with: result)
    }

    /// Requests another answer of bluetoothd for the work with a number.
    func ask(for number: Int) {
        turns.ask(for: number)
    }
}
