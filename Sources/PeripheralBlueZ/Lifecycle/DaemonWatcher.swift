internal import PeripheralCore
internal import PeripheralDBus

/// Tells what becomes of bluetoothd and of its adapters.
struct DaemonWatcher {
    let connection: BusConnection
    /// The version that the program says is running.
    var version: BlueZVersion?
    let report: @Sendable (LifeStateMachine.Event) -> Void

    /// Begins to report; what is the case at this moment is told by ``findAdapters(startsDaemon:)``.
    func watch() async throws(BusError) {
        await connection.onLoss { [report] in report(.busLost) }
        _ = try await connection.watchName(BlueZ.name) { [report] owner in
            report(owner == nil ? .daemonLost : .daemonAppeared)
        }
        // All that an adapter needs; they may come one after the other.
        let needed = [BlueZ.adapter, BlueZ.gattManager, BlueZ.advertisingManager]
        _ = try await connection.subscribe(to: objects("InterfacesAdded")) { [report] signal in
            guard let (path, interfaces) = Self.interfaces(of: signal) else { return }
            if needed.contains(where: { interfaces[$0.text] != nil }) { report(.adapterAppeared(path.text)) }
        }
        _ = try await connection.subscribe(to: objects("InterfacesRemoved")) { [report] signal in
            guard let (path, interfaces) = Self.interfaces(of: signal) else { return }
            if needed.contains(where: { interfaces.elements?.contains(.string($0.text)) == true }) {
                report(.adapterLost(path.text))
            }
        }
        _ = try await connection.subscribe(to: adapterChanges) { [report] signal in
            let path = signal.path.string
            var arguments = signal.arguments
            arguments.skip()
            try? arguments.readProperties { (key, value) throws(BusError) in
                if key == "Powered" { report(.powerChanged(path, try value.readBool())) }
            }
        }
    }

    /// The adapters that bluetoothd has, in its order.
    ///
    /// - Parameter startsDaemon: Whether the bus is asked to start bluetoothd when it does not run.
    /// - Returns: The adapters.
    /// - Throws: `BusError`, or ``RegistrationStateMachine/Failure`` when bluetoothd does not run or the bus is lost.
    func findAdapters(startsDaemon: Bool) async throws -> [AdapterDescription] {
        // No name has an owner on a connection that is lost.
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

    /// Whether bluetoothd runs, as a connection to the bus tells that is made for this question alone.
    static func findsDaemon(at bus: BusAddress, on loop: EventLoop) async -> Bool {
        guard let connection = try? await BusConnection.connect(to: bus, on: loop) else { return false }
        let isRunning = try? await connection.findOwner(of: BlueZ.name)
        await connection.abandon()
        return isRunning == true
    }

    /// The object whose interfaces have come or gone, and which these are.
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
