internal import PeripheralDBus
internal import PeripheralKit

/// Passes bluetoothd's reports about its devices to the ``Centrals`` of an adapter.
struct DeviceWatcher {
    let connection: BusConnection
    let adapter: ObjectPath
    let centrals: Centrals

    /// Begins to watch, and reports the devices that bluetoothd already has.
    func watch() async throws(BusError) {
        let (adapter, centrals) = (adapter, centrals)
        await centrals.setAdapter(adapter)
        try await connection.subscribe(to: objects("InterfacesAdded"), waitsForBus: false) { signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                let path = values[0].objectPath, path.isBelow(adapter),
                let device = values[1][BlueZ.device.text]
            else { return }
            centrals.assumeIsolated { $0.deviceChanged(path, device) }
        }
        try await connection.subscribe(to: objects("InterfacesRemoved"), waitsForBus: false) { signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                let path = values[0].objectPath, path.isBelow(adapter),
                values[1].elements?.contains(.string(BlueZ.device.text)) == true
            else { return }
            centrals.assumeIsolated { $0.deviceRemoved(path) }
        }
        // bluetoothd 5.83 and later send this signal before they report the disconnection.
        try await connection.subscribe(to: disconnections, waitsForBus: false) { signal in
            var arguments = signal.arguments
            guard let path = try? ObjectPath(signal.path.string), let values = try? arguments.readValues(),
                let reason = values.first?.string
            else { return }
            centrals.assumeIsolated {
                $0.deviceDisconnected(path, because: DisconnectionReason.Cause(reason: reason))
            }
        }
        try await connection.subscribe(to: changes) { signal in
            var arguments = signal.arguments
            guard let path = try? ObjectPath(signal.path.string), let values = try? arguments.readValues(),
                values.count == 3
            else { return }
            centrals.assumeIsolated { $0.deviceChanged(path, values[1]) }
        }
        try await takeDevices()
    }

    /// Records the existing devices.
    ///
    /// The devices are recorded in the turn of the loop in which they are reported, because later reports are
    /// newer.
    private func takeDevices() async throws(BusError) {
        let (answers, answer) = AsyncStream.makeStream(of: Result<Void, BusError>.self)
        connection.loop.execute { [adapter, centrals, connection] in
            connection.assumeIsolated { connection in
                // The arguments are well-formed.
                try? connection.call(BlueZ.name, "/", BlueZ.objectManager, "GetManagedObjects") { result in
                    if case .success(let objects) = result {
                        centrals.assumeIsolated { $0.devicesReported(objects.first, below: adapter) }
                    }
                    answer.yield(result.map { _ in })
                }
            }
        }
        for await answer in answers { return try answer.get() }
        throw .cancelled
    }

    private func objects(_ change: MemberName) -> MatchRule {
        MatchRule(sender: BlueZ.name, path: "/", interface: BlueZ.objectManager, member: change)
    }

    private var disconnections: MatchRule {
        MatchRule(
            sender: BlueZ.name,
            pathNamespace: adapter,
            interface: BlueZ.device,
            member: "Disconnected"
        )
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
