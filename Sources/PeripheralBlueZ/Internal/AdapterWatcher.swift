internal import PeripheralCore
internal import PeripheralDBus

/// Finds the adapters of bluetoothd, and tells what becomes of one of them.
struct AdapterWatcher {
    let connection: BusConnection
    /// The version that the program says is running.
    var version: BlueZVersion?
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
                connectionsInterruptAdvertising: advertising?["SupportedSecondaryChannels"] != nil,
                version: version ?? BlueZVersion(ofAdapter: adapter)
            )
        }
    }

    /// Reports the end of bluetoothd and of the adapter.
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
    }

    private func objects(_ change: MemberName) -> MatchRule {
        MatchRule(sender: BlueZ.name, path: "/", interface: BlueZ.objectManager, member: change)
    }
}
