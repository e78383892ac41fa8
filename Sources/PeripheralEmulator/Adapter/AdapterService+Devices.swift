internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// A central that bluetoothd knows.
struct Device: Sendable {
    var isConnected: Bool
    /// Tells one disconnection from the next.
    var generation: Int
}

extension AdapterService {
    /// How long bluetoothd remembers a central that has not paired (`TemporaryTimeout` in its main.conf).
    private static let memory: Duration = .seconds(30)

    func connectionChanged(_ event: ConnectionEvent) {
        switch event {
        case .connected(let central): connected(central.address)
        case .disconnected(let central): disconnected(central.address)
        case .secured, .paired, .pairingFailed, .forgotten: break
        }
    }

    private func connected(_ address: DeviceAddress) {
        let isKnown = devices[address] != nil
        devices[address] = Device(isConnected: true, generation: makeNumber())
        if isKnown {
            emitChanged(BlueZName.device, [("Connected", .bool(true))], at: path.device(address))
        } else {
            let object = makeDevice(address)
            connection.assumeIsolated { connection in
                // The path is that of no other object, and the connection may be gone.
                try? connection.export(object)
            }
        }
        emitChanged(BlueZName.device, [("ServicesResolved", .bool(true))], at: path.device(address))
    }

    private func disconnected(_ address: DeviceAddress) {
        guard devices[address]?.isConnected == true else { return }
        let generation = makeNumber()
        devices[address] = Device(isConnected: false, generation: generation)
        emitChanged(
            BlueZName.device,
            [("ServicesResolved", .bool(false)), ("Connected", .bool(false))],
            at: path.device(address)
        )
        tasks.start { [clock = configuration.clock] in
            do {
                try await clock.sleep(for: Self.memory)
            } catch {
                return
            }
            await self.forget(address, generation)
        }
    }

    private func forget(_ address: DeviceAddress, _ generation: Int) {
        guard devices[address]?.generation == generation else { return }
        devices[address] = nil
        withdraw(path.device(address))
    }

    /// Takes the objects of all centrals off the bus.
    func forgetDevices() {
        for address in devices.keys.sorted() { withdraw(path.device(address)) }
        devices = [:]
    }

    private func withdraw(_ path: ObjectPath) {
        connection.assumeIsolated { $0.withdraw(path, [.properties, .introspectable, BlueZName.device]) }
    }

    private nonisolated func makeDevice(_ address: DeviceAddress) -> ExportedObject {
        let isConnected: @Sendable (isolated AdapterService) -> BusValue = {
            .bool($0.devices[address]?.isConnected ?? false)
        }
        let services: [BluetoothUUID] = [.genericAccess, .genericAttribute]
        return ExportedObject(
            path.device(address),
            [
                ExportedInterface(.introspectable),
                ExportedInterface(
                    BlueZName.device,
                    methods: [
                        method("Disconnect", "") { service, call in
                            call.reply.send()
                            service.server.disconnect(address)
                        }
                    ],
                    properties: [
                        ExportedProperty("Address", .string(address.description)),
                        ExportedProperty("AddressType", .string("random")),
                        ExportedProperty("Name", .string("virtual central")),
                        ExportedProperty("Alias", .string("virtual central")),
                        ExportedProperty("Paired", .bool(false)),
                        ExportedProperty("Bonded", .bool(false)),
                        ExportedProperty("Trusted", .bool(false)),
                        ExportedProperty("Blocked", .bool(false)),
                        ExportedProperty("LegacyPairing", .bool(false)),
                        property("Connected", "b", isConnected),
                        ExportedProperty("UUIDs", .strings(services.map(\.fullDescription))),
                        ExportedProperty("Adapter", .objectPath(path)),
                        property("ServicesResolved", "b", isConnected),
                    ]
                ),
                ExportedInterface(.properties),
            ]
        )
    }
}
