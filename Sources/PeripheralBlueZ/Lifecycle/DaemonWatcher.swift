internal import PeripheralCore
internal import PeripheralDBus

/// Reports changes of bluetoothd and its adapters.
struct DaemonWatcher {
    let connection: BusConnection
    /// The version that the program specifies.
    var version: BlueZVersion?
    let report: @Sendable (SupervisorStateMachine.Event) -> Void

    /// Begins to report changes; ``findAdapters(startsDaemon:)`` returns the current state.
    func watch() async throws(BusError) {
        await connection.onLoss { [report] in report(.busLost) }
        _ = try await connection.watchName(BlueZ.name) { [report] owner in
            report(owner == nil ? .daemonLost : .daemonAppeared)
        }
        // Waits for all interfaces that an adapter needs, because these can appear one after the other.
        let needed = [BlueZ.adapter, BlueZ.gattManager, BlueZ.advertisingManager]
        try await connection.subscribe(to: objects("InterfacesAdded"), waitsForBus: false) {
            [report] signal in
            guard let (path, interfaces) = Self.interfaces(of: signal) else { return }
            if needed.contains(where: { interfaces[$0.text] != nil }) { report(.adapterAppeared(path.text)) }
        }
        try await connection.subscribe(to: objects("InterfacesRemoved"), waitsForBus: false) {
            [report] signal in
            guard let (path, interfaces) = Self.interfaces(of: signal) else { return }
            if needed.contains(where: { interfaces.elements?.contains(.string($0.text)) == true }) {
                report(.adapterLost(path.text))
            }
        }
        try await connection.subscribe(to: adapterChanges) { [report] signal in
            let path = signal.path.string
            var arguments = signal.arguments
            arguments.skip()
            try? arguments.readProperties { (key, value) throws(BusError) in
                if key == "Powered" { report(.powerChanged(path, try value.readBool())) }
            }
        }
    }

    /// Returns the adapters of bluetoothd, in the order in which bluetoothd lists them.
    ///
    /// - Parameter startsDaemon: Whether the bus starts bluetoothd if it does not run.
    /// - Returns: The adapters.
    /// - Throws: `BusError`, or ``RegistrationStateMachine/Failure`` if bluetoothd does not run or the bus is
    ///   lost.
    func findAdapters(startsDaemon: Bool) async throws -> [AdapterDescription] {
        // If the connection is lost, no name has an owner.
        guard await connection.isOpen else { throw RegistrationStateMachine.Failure.busLost }
        guard await connection.hasOwner(BlueZ.name) || startsDaemon else {
            throw RegistrationStateMachine.Failure.noDaemon
        }
        let answer = try await connection.call(
            BlueZ.name,
            "/",
            BlueZ.objectManager,
            "GetManagedObjects",
            timeout: .seconds(10)
        )
        guard let objects = answer.first?.dictionary else {
            throw BusError.signatureMismatch(expected: "a{oa{sa{sv}}}", found: answer.signature.text)
        }
        return objects.entries.compactMap { entry in
            guard let path = entry.key.objectPath, let adapter = entry.value[BlueZ.adapter.text] else {
                return nil
            }
            let advertising = entry.value[BlueZ.advertisingManager.text]
            return AdapterDescription(
                path: path.text,
                address: adapter["Address"]?.string.flatMap(DeviceAddress.init),
                alias: adapter["Alias"]?.string ?? "",
                isPowered: adapter["Powered"]?.bool ?? false,
                isUsable: advertising != nil && entry.value[BlueZ.gattManager.text] != nil,
                connectionsInterruptAdvertising: advertising?["SupportedSecondaryChannels"] != nil,
                version: version ?? BlueZVersion(ofAdapter: adapter)
            )
        }
    }

    /// Returns whether bluetoothd runs, according to a separate new connection to the bus.
    static func findsDaemon(at bus: BusAddress, on loop: EventLoop) async -> Bool {
        guard let connection = try? await BusConnection.connect(to: bus, on: loop) else { return false }
        let isRunning = try? await connection.findOwner(of: BlueZ.name)
        await connection.abandon()
        return isRunning == true
    }

    /// Returns the object of the signal, and the interfaces that were added to the object or removed from it.
    private static func interfaces(of signal: borrowing IncomingMessage) -> (ObjectPath, BusValue)? {
        var arguments = signal.arguments
        guard let values = try? arguments.readValues(), values.count == 2, let path = values[0].objectPath
        else {
            return nil
        }
        return (path, values[1])
    }

    private func objects(_ change: MemberName) -> MatchRule {
        MatchRule(sender: BlueZ.name, path: "/", interface: BlueZ.objectManager, member: change)
    }

    private var adapterChanges: MatchRule {
        MatchRule(
            sender: BlueZ.name,
            pathNamespace: "/org/bluez",
            interface: .properties,
            member: "PropertiesChanged",
            firstArgument: BlueZ.adapter.text
        )
    }
}
