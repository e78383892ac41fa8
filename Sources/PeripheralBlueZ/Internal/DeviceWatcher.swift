internal import PeripheralDBus

/// Tells the ``Centrals`` of an adapter what bluetoothd says of its devices.
struct DeviceWatcher {
    let connection: BusConnection
    let adapter: ObjectPath
    let centrals: Centrals

    /// Begins, with the devices that bluetoothd has already.
    func watch() async throws(BusError) {
        let (adapter, centrals) = (adapter, centrals)
        await centrals.setAdapter(adapter)
        _ = try await connection.subscribe(to: objects("InterfacesAdded")) { signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                let path = values[0].objectPath, path.isBelow(adapter),
                let device = values[1][BlueZ.device.text]
            else { return }
            centrals.assumeIsolated { $0.deviceChanged(path, device) }
        }
        _ = try await connection.subscribe(to: objects("InterfacesRemoved")) { signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                let path = values[0].objectPath, path.isBelow(adapter),
                values[1].elements?.contains(.string(BlueZ.device.text)) == true
            else { return }
            centrals.assumeIsolated { $0.deviceRemoved(path) }
        }
        _ = try await connection.subscribe(to: changes) { signal in
            var arguments = signal.arguments
            guard let path = try? ObjectPath(signal.path.string), let values = try? arguments.readValues(),
                values.count == 3
            else { return }
            centrals.assumeIsolated { $0.deviceChanged(path, values[1]) }
        }
        let objects = try await connection.call(BlueZ.name, "/", BlueZ.objectManager, "GetManagedObjects")
        for entry in objects.first?.dictionary?.entries ?? [] {
            guard let path = entry.key.objectPath, path.isBelow(adapter),
                let device = entry.value[BlueZ.device.text]
            else { continue }
            await centrals.deviceChanged(path, device)
        }
    }

    private func objects(_ change: MemberName) -> MatchRule {
        MatchRule(sender: BlueZ.name, path: "/", interface: BlueZ.objectManager, member: change)
    }

    private var changes: MatchRule {
        MatchRule(
            sender: BlueZ.name,
            pathNamespace: adapter,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            firstArgument: BlueZ.device.text
        )
    }
}
