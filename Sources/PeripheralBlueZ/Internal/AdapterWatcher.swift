internal import PeripheralDBus

/// Finds the adapters of bluetoothd, and tells what becomes of one of them.
struct AdapterWatcher {
    let connection: BusConnection
    let report: @Sendable (RegistrationStateMachine.Event) -> Void

    /// The adapters that bluetoothd has, in its order.
    func findAdapters() async throws(BusError) -> [AdapterDescription] {
        let answer = try await connection.call(
            BlueZ.name,
            "/",
            BlueZ.objectManager,
            "GetManagedObjects",
            timeout: .seconds(10)
        )
        guard let objects = answer.first?.dictionary else {
            throw .signatureMismatch(expected: "a{oa{sa{sv}}}", found: answer.signature.text)
        }
        return objects.entries.compactMap { entry in
            guard let path = entry.key.objectPath, let adapter = entry.value[BlueZ.adapter.text] else {
                return nil
            }
            let advertising = entry.value[BlueZ.advertisingManager.text]
            return AdapterDescription(
                path: path.text,
                isPowered: adapter["Powered"]?.bool ?? false,
                isUsable: advertising != nil && entry.value[BlueZ.gattManager.text] != nil,
                connectionsInterruptAdvertising: advertising?["SupportedSecondaryChannels"] != nil
            )
        }
    }

    /// Reports the end of bluetoothd and of the adapter, and the coming and going of centrals.
    func watch(_ adapter: String) async throws(BusError) {
        let path = try ObjectPath(adapter)
        _ = try await connection.watchName(BlueZ.name) { [report] owner in
            if owner == nil { report(.lost(.daemonLost)) }
        }
        _ = try await connection.subscribe(to: objects("InterfacesRemoved")) { [report] signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                values[0].objectPath == path,
                values[1].elements?.contains(.string(BlueZ.gattManager.text)) == true
            else { return }
            report(.lost(.adapterLost(adapter)))
        }
        _ = try await connection.subscribe(to: deviceChanges(below: path)) { [report] signal in
            var arguments = signal.arguments
            arguments.skip()
            try? arguments.readProperties { (key, _) throws(BusError) in
                if key == "Connected" { report(.connectionChanged) }
            }
        }
        // A central that bluetoothd has not known before is connected when its object appears.
        _ = try await connection.subscribe(to: objects("InterfacesAdded")) { [report] signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                values[0].objectPath?.isBelow(path) == true,
                values[1][BlueZ.device.text]?["Connected"]?.bool == true
            else { return }
            report(.connectionChanged)
        }
    }

    private func objects(_ change: MemberName) -> MatchRule {
        MatchRule(sender: BlueZ.name, path: "/", interface: BlueZ.objectManager, member: change)
    }

    private func deviceChanges(below adapter: ObjectPath) -> MatchRule {
        MatchRule(
            sender: BlueZ.name,
            pathNamespace: adapter,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            firstArgument: BlueZ.device.text
        )
    }
}
