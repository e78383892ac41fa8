internal import PeripheralDBus

/// A run of bluetoothd, from its appearance on the bus to its end.
///
/// The actor runs on the event loop of its bus connection.
actor BluetoothDaemon {
    nonisolated let connection: BusConnection
    private let tasks: LoopTasks
    private let configuration: EmulatedBlueZ.Configuration
    private var adapters: [AdapterService] = []
    private let agents: AgentRegister
    private var isOver = false

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.loop.asUnownedSerialExecutor()
    }

    private init(_ connection: BusConnection, tasks: LoopTasks, configuration: EmulatedBlueZ.Configuration) {
        self.connection = connection
        self.tasks = tasks
        self.configuration = configuration
        agents = AgentRegister(connection)
    }

    /// Appears on the bus like bluetoothd, with the name before the objects.
    static func start(
        on bus: String,
        loop: EventLoop,
        tasks: LoopTasks,
        configuration: EmulatedBlueZ.Configuration,
        controllers: [Controller]
    ) async throws -> BluetoothDaemon {
        let connection = try await BusConnection.connect(to: .address(bus), on: loop)
        let daemon = BluetoothDaemon(connection, tasks: tasks, configuration: configuration)
        do {
            try await daemon.appear(with: controllers)
        } catch {
            await connection.abandon()
            throw error
        }
        return daemon
    }

    private func appear(with controllers: [Controller]) async throws {
        try await listen()
        agents.observe { [weak self] agent in self?.assumeIsolated { $0.agentChanged(agent) } }
        await connection.wordRefusals(CallMismatch.bluetoothd)
        try await connection.exportObjectManager(at: "/")
        try await connection.requestName(BlueZName.service)
        try await connection.export(
            ExportedObject(
                BlueZName.root,
                [
                    ExportedInterface(.introspectable), agents.interface,
                    ExportedInterface(BlueZName.profileManager), ExportedInterface(BlueZName.healthManager),
                ]
            )
        )
        for controller in controllers { try await add(controller) }
    }

    private func listen() async throws {
        let changes = MatchRule(interface: .properties, member: "PropertiesChanged")
        try await connection.subscribe(to: changes) { [weak self] signal in
            guard let self, let changes = PropertyChanges(signal) else { return }
            self.assumeIsolated { $0.propertiesChanged(changes) }
        }
        let removals = MatchRule(interface: .objectManager, member: "InterfacesRemoved")
        try await connection.subscribe(to: removals) { [weak self] signal in
            guard let self, let object = RemovedObject(signal) else { return }
            self.assumeIsolated { daemon in
                for adapter in daemon.adapters { adapter.assumeIsolated { $0.objectRemoved(object) } }
            }
        }
        let owners = MatchRule(
            sender: .bus,
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        try await connection.subscribe(to: owners) { [weak self] signal in
            var arguments = signal.arguments
            guard let self, let values = try? arguments.readValues(), values.signature == "sss",
                values[2].string == "", let name = values[0].string.flatMap({ try? BusName($0) })
            else { return }
            self.assumeIsolated { $0.removeAll(of: name) }
        }
    }

    private func agentChanged(_ agent: RemoteAgent?) {
        for adapter in adapters { adapter.assumeIsolated { $0.agentChanged(agent) } }
    }

    private func propertiesChanged(_ changes: PropertyChanges) {
        for adapter in adapters {
            switch changes.interface {
            case BlueZName.gattCharacteristic.text:
                adapter.assumeIsolated { $0.updateCharacteristic(changes) }
            case BlueZName.advertisement.text:
                adapter.assumeIsolated { $0.updateAdvertisement(changes) }
            default: break
            }
        }
    }

    /// Removes all registrations of a program that has left the bus.
    private func removeAll(of owner: BusName) {
        agents.remove(owner)
        for adapter in adapters {
            adapter.assumeIsolated { adapter in
                adapter.removeAdvertisements(of: owner)
                adapter.removeApplications(of: owner)
            }
        }
    }
}

// MARK: - Adapters

extension BluetoothDaemon {
    /// Handles an adapter that is plugged in.
    func add(_ controller: Controller) async throws {
        let adapter = try AdapterService(
            controller,
            connection: connection,
            tasks: tasks,
            configuration: configuration,
            crash: { [weak self, tasks] in tasks.start { await self?.kill() } }
        )
        adapters.append(adapter)
        try await adapter.start(agent: agents.current)
    }

    /// Handles an adapter that is unplugged.
    func remove(_ name: String) async {
        guard let index = adapters.firstIndex(where: { $0.controller.adapter.name == name }) else { return }
        await adapters[index].remove()
        adapters.remove(at: index)
    }

    /// Powers an adapter on or off.
    func setPowered(_ name: String, _ isOn: Bool) async {
        guard let adapter = adapters.first(where: { $0.controller.adapter.name == name }) else { return }
        await adapter.setPowered(isOn)
    }
}

// MARK: - End

extension BluetoothDaemon {
    /// Stops in order.
    ///
    /// The daemon removes everything from the bus, and informs the programs whose advertisements are removed.
    func stop() async {
        guard !isOver else { return }
        isOver = true
        for adapter in adapters { await adapter.beginShutdown() }
        await connection.withdraw(BlueZName.root, [BlueZName.healthManager])
        let rest = [.introspectable, BlueZName.agentManager, BlueZName.profileManager]
        await connection.withdraw(BlueZName.root, rest)
        agents.release()
        for adapter in adapters { await adapter.finishShutdown() }
        adapters = []
        await giveUpName()
        await connection.close()
    }

    /// Ends immediately, like a killed or crashed process.
    func kill() async {
        guard !isOver else { return }
        isOver = true
        await giveUpName()
        await connection.abandon()
        for adapter in adapters { await adapter.drop() }
        adapters = []
    }

    /// Releases the name of bluetoothd on the bus.
    ///
    /// Without this step, the bus would refuse the name to the next daemon until it notices the end of the
    /// connection.
    private func giveUpName() async {
        // If the bus has ended, there is no name to release.
        try? await connection.releaseOwnName(BlueZName.service)
    }
}
