internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// The part of bluetoothd for one adapter, with its object on the bus and its registrations.
///
/// The actor runs on the daemon's event loop, like the connection. Therefore it handles method calls and
/// signals in order.
actor AdapterService {
    let controller: Controller
    let path: ObjectPath
    let connection: BusConnection
    let tasks: LoopTasks
    let configuration: EmulatedBlueZ.Configuration
    /// Ends the whole daemon, like a use of freed memory.
    let crash: @Sendable () -> Void

    private(set) var isPowered: Bool
    /// The stored alias, or the name from bluetoothd's configuration.
    var alias: String { controller.alias ?? configuration.deviceName }
    var discoverable = false
    /// The seconds after which the adapter is no longer pairable; 0 for no limit.
    private(set) var pairableTimeout: UInt32 = 0
    /// The number of starts and ends of the time limit.
    private var pairableGeneration = 0
    var applications: [Client: Registration<RegisteredApplication>] = [:]
    var advertisements: [Client: Registration<RegisteredAdvertisement>] = [:]
    var devices: [DeviceAddress: Device] = [:]
    private var lastNumber = 0
    private var observer: ConnectionObserverID?
    /// Calls that bluetoothd never answers.
    var unansweredCalls: [DaemonCall] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.loop.asUnownedSerialExecutor()
    }

    var server: VirtualGATTServer { controller.server }
    var isExtended: Bool { controller.adapter.kind == .extended }

    init(
        _ controller: Controller,
        connection: BusConnection,
        tasks: LoopTasks,
        configuration: EmulatedBlueZ.Configuration,
        crash: @escaping @Sendable () -> Void
    ) throws {
        self.crash = crash
        self.controller = controller
        self.connection = connection
        self.tasks = tasks
        self.configuration = configuration
        path = try BlueZName.root.appending(controller.adapter.name)
        isPowered = controller.adapter.isPowered && !controller.isBlocked
    }

    func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Exports the adapter on the bus, with its bonded centrals.
    func start(agent: RemoteAgent?) async throws {
        server.reset()
        observer = server.observeConnections {
            [weak self, loop = connection.loop, sockets = controller.sockets] event in
            sockets.report(event)
            loop.execute {
                self?.assumeIsolated { $0.connectionChanged(event) }
            }
        }
        try await connection.export(makeObject())
        for central in server.bondedCentrals { try await exportBonded(central) }
        // Without an agent, Linux still knows whether the adapter is pairable.
        if let agent { agentChanged(agent) }
    }

    /// Replaces the agent for pairing.
    ///
    /// The adapter becomes pairable with each new default agent. Without an agent, it is not pairable
    /// (`AlwaysPairable=false`; BlueZ, `set_io_cap` in agent.c).
    func agentChanged(_ agent: RemoteAgent?) {
        let clock = configuration.clock
        server.setPairingAgent(agent.map { AdapterAgent(agent: $0, adapter: path, clock: clock) })
        setPairable(agent != nil)
    }

    func setPairable(_ isPairable: Bool) {
        guard isPairable != server.isPairable else { return }
        server.isPairable = isPairable
        emitChanged(BlueZName.adapter, [("Pairable", .bool(isPairable))])
        limitPairability()
    }

    func setPairableTimeout(_ seconds: UInt32) {
        pairableTimeout = seconds
        emitChanged(BlueZName.adapter, [("PairableTimeout", .uint32(seconds))])
        limitPairability()
    }

    /// Starts the time limit again, if there is one (BlueZ, `trigger_pairable_timeout` in adapter.c).
    private func limitPairability() {
        pairableGeneration += 1
        guard server.isPairable, pairableTimeout > 0 else { return }
        let (generation, limit) = (pairableGeneration, Duration.seconds(pairableTimeout))
        tasks.start { [clock = configuration.clock] in
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            await self.endPairability(generation)
        }
    }

    private func endPairability(_ generation: Int) {
        if generation == pairableGeneration { setPairable(false) }
    }

    /// Removes the adapter from the bus without a signal.
    func drop() {
        if let observer { server.stopObserving(observer) }
        server.reset()
        closeChannels()
        applications = [:]
        advertisements = [:]
        devices = [:]
    }
}

/// A registration of a program, which is pending or complete.
enum Registration<Content: Sendable>: Sendable {
    /// A pending registration, with the number of the registration attempt.
    case pending(Int)
    case registered(Content)

    var content: Content? {
        if case .registered(let content) = self { content } else { nil }
    }

    func isPending(_ number: Int) -> Bool {
        if case .pending(number) = self { true } else { false }
    }
}

extension AdapterService {
    /// A method whose handler runs in this actor.
    nonisolated func method(
        _ name: MemberName,
        _ input: Signature,
        _ output: Signature = "",
        _ body: @escaping @Sendable (isolated AdapterService, DaemonCall) -> Void
    ) -> ExportedMethod {
        ExportedMethod(name, input, output) { [weak self] message, reply in
            guard let self, let call = DaemonCall(message, reply.deferred()) else { return }
            self.assumeIsolated { body($0, call) }
        }
    }

    /// A property whose value is in this actor.
    nonisolated func property(
        _ name: MemberName,
        _ signature: Signature,
        _ get: @escaping @Sendable (isolated AdapterService) -> BusValue,
        set: (@Sendable (isolated AdapterService, BusValue) throws(MethodError) -> Void)? = nil
    ) -> ExportedProperty {
        var property = ExportedProperty(
            name,
            signature,
            get: { [weak self] () throws(MethodError) in
                guard let value = self?.assumeIsolated({ get($0) }) else {
                    throw MethodError(.unknownObject, "the adapter is gone")
                }
                return value
            }
        )
        if let set {
            property.set = { [weak self] (value) throws(MethodError) in
                let outcome: Result<Void, MethodError>? = self?.assumeIsolated { adapter in
                    do throws(MethodError) {
                        return .success(try set(adapter, value))
                    } catch {
                        return .failure(error)
                    }
                }
                try outcome?.get()
            }
        }
        return property
    }

    func emitChanged(_ interface: InterfaceName, _ changed: [(String, BusValue)], at path: ObjectPath? = nil)
    {
        let path = path ?? self.path
        connection.assumeIsolated { connection in
            // If the bus has ended, the signal has no receiver.
            try? connection.emitPropertiesChanged(path, interface, changed)
        }
    }

    func callIgnoringAnswer(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ arguments: [BusValue]
    ) {
        connection.assumeIsolated { connection in
            // The caller does not need the result.
            try? connection.callIgnoringAnswer(destination, path, interface, member, arguments)
        }
    }
}

// MARK: - Power

extension AdapterService {
    /// Powers the adapter on or off.
    ///
    /// Registrations stay. With extended advertising, an advertisement is on the air again only after it is
    /// registered again (recorded with Linux 6.1).
    func setPowered(_ isOn: Bool) {
        guard isOn != isPowered, !(isOn && controller.isBlocked) else { return }
        isPowered = isOn
        if isOn {
            if !isExtended { airAll() }
            emitChanged(BlueZName.adapter, [("Powered", .bool(true))])
        } else {
            takeAllOffAir()
            server.disconnectAll()
            afterDisconnections { $0.announcePowerOff() }
        }
    }

    /// Runs `body` after all earlier disconnections have been reported on the bus.
    func afterDisconnections(_ body: @escaping @Sendable (isolated AdapterService) -> Void) {
        connection.loop.execute { self.assumeIsolated { body($0) } }
    }

    /// Removes the adapter from the bus, like an unplugged adapter.
    func remove() async {
        await end()
        forgetDevices()
        announcePowerOff()
        withdraw([BlueZName.gattManager, BlueZName.media])
        vanish()
    }

    /// Begins to remove the adapter from the bus, like a bluetoothd that stops.
    func beginShutdown() async {
        await end()
        announcePowerOff()
        withdraw([BlueZName.media])
    }

    /// Removes the adapter from the bus after bluetoothd has ended.
    func finishShutdown() {
        forgetDevices()
        withdraw([BlueZName.gattManager])
        vanish()
    }

    private func end() async {
        takeAllOffAir()
        server.disconnectAll()
        await untilDisconnectionsAreReported()
    }

    private func vanish() {
        withdraw([BlueZName.advertisingManager])
        releaseAdvertisements()
        withdraw([.properties, .introspectable, BlueZName.adapter])
        drop()
    }

    private func announcePowerOff() {
        emitChanged(BlueZName.adapter, [("Powered", .bool(false)), ("Discovering", .bool(false))])
    }

    private func untilDisconnectionsAreReported() async {
        await withCheckedContinuation { continuation in
            connection.loop.execute { continuation.resume() }
        }
    }

    private func withdraw(_ interfaces: [InterfaceName]) {
        connection.assumeIsolated { [path] in $0.withdraw(path, interfaces) }
    }
}
