internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// A central that bluetoothd knows.
struct Device: Sendable {
    /// The central as bluetoothd knows it.
    ///
    /// As soon as the central has revealed its identity address, this value contains that address.
    var central: Central
    var isConnected = false
    var isPaired = false
    var isBonded = false
    /// A number that distinguishes one disconnection from the next.
    var generation = 0
}

extension AdapterService {
    /// The time that bluetoothd remembers a central that is not bonded (`TemporaryTimeout` in its main.conf).
    private static let memory: Duration = .seconds(30)

    func connectionChanged(_ event: ConnectionEvent) {
        switch event {
        case .connected(let central): connected(central)
        case .paired(let central, let isBonded): paired(central, isBonded: isBonded)
        case .disconnected(let central, let reason):
            closeChannels(of: central.linkAddress)
            disconnected(central.linkAddress, because: reason)
        case .refusedLength(let refusal):
            // The real bluetoothd is silent.
            configuration.logger.warning(
                "\(refusal.explanation(by: "BlueZ \(configuration.version)"))",
                metadata: ["peripheral.central": "\(refusal.central.address)"]
            )
        case .changed, .secured, .pairingFailed, .forgotten: break
        }
    }

    private func connected(_ central: Central) {
        let address = central.linkAddress
        let isKnown = devices[address] != nil
        devices[address, default: Device(central: central)].isConnected = true
        devices[address]?.generation = makeNumber()
        if isKnown {
            emitChanged([("Connected", .bool(true))], of: address)
        } else {
            let object = makeDevice(address)
            connection.assumeIsolated { connection in
                // No other object has this path, and the connection may have ended.
                try? connection.export(object)
            }
        }
        emitChanged([("ServicesResolved", .bool(true))], of: address)
    }

    private func paired(_ central: Central, isBonded: Bool) {
        let address = central.linkAddress
        guard let device = devices[address] else { return }
        devices[address]?.central = central
        // The address changes before the keys, as in `device_update_addr` of bluetoothd. The path stays the
        // same.
        if device.central.address != central.address {
            emitChanged(
                [
                    ("Address", .string(central.address.description)),
                    ("AddressType", .string(central.addressTypeName)),
                ],
                of: address
            )
        }
        devices[address]?.isPaired = true
        devices[address]?.isBonded = isBonded
        var changes: [(String, BusValue)] = []
        if device.isBonded != isBonded { changes.append(("Bonded", .bool(isBonded))) }
        if !device.isPaired { changes.append(("Paired", .bool(true))) }
        if !changes.isEmpty { emitChanged(changes, of: address) }
    }

    private func disconnected(_ address: DeviceAddress, because reason: DisconnectionReason) {
        guard let device = devices[address], device.isConnected else { return }
        let generation = makeNumber()
        devices[address]?.isConnected = false
        devices[address]?.generation = generation
        var changes: [(String, BusValue)] = [("ServicesResolved", .bool(false))]
        if device.isPaired, !device.isBonded {
            devices[address]?.isPaired = false
            changes.append(("Paired", .bool(false)))
        }
        if configuration.version >= .disconnectionReasons {
            emitChanged(changes, of: address)
            changes = []
            let (name, message) = reason.signal
            connection.assumeIsolated { connection in
                // If the bus has ended, the signal has no receiver.
                try? connection.emit(path.device(address), BlueZName.device, "Disconnected") { writer in
                    writer.append("org.bluez.Reason.\(name)")
                    writer.append(message)
                }
            }
        }
        emitChanged(changes + [("Connected", .bool(false))], of: address)
        if device.isBonded { return }
        tasks.start { [clock = configuration.clock] in
            do {
                try await clock.sleep(for: Self.memory)
            } catch {
                return
            }
            await self.forget(address, generation)
        }
    }

    private func emitChanged(_ changes: [(String, BusValue)], of address: DeviceAddress) {
        emitChanged(BlueZName.device, changes, at: path.device(address))
    }

    private func forget(_ address: DeviceAddress, _ generation: Int) {
        guard devices[address]?.generation == generation else { return }
        forget(address)
    }

    private func forget(_ address: DeviceAddress) {
        devices[address] = nil
        withdraw(path.device(address))
    }

    /// Removes the objects of all centrals from the bus.
    func forgetDevices() {
        for address in devices.keys.sorted() { withdraw(path.device(address)) }
        devices = [:]
    }

    private func withdraw(_ path: ObjectPath) {
        connection.assumeIsolated { $0.withdraw(path, [.properties, .introspectable, BlueZName.device]) }
    }
}

extension DisconnectionReason {
    /// The last part of the name, and the message, in the signal of bluetoothd.
    fileprivate var signal: (name: String, message: String) {
        switch cause {
        case .timeout: ("Timeout", "Connection timeout")
        case .central: ("Remote", "Connection terminated by remote user")
        case .device: ("Local", "Connection terminated by local host")
        case .security: ("Authentication", "Connection terminated due to authentication failure")
        case .other, .unknown: ("Unknown", "Unspecified")
        }
    }
}

// MARK: - Calls

extension AdapterService {
    /// Forgets a central and its keys.
    ///
    /// If the central is connected, bluetoothd also forgets its subscriptions. bluetoothd waits 2 seconds
    /// before it ends the connection.
    func removeDevice(_ call: DaemonCall) {
        let path = call.client?.path
        guard let address = devices.keys.first(where: { self.path.device($0) == path }) else {
            return _ = call.reply.fail(.doesNotExist)
        }
        guard isPowered else { return _ = call.reply.fail(.notReady) }
        server.forget(address, leavingSubscriptions: true)
        guard devices[address]?.isConnected == true else {
            // The central may reconnect as soon as the removal is known.
            forget(address)
            return _ = call.reply.send()
        }
        // The connection ends before this answer, so later requests of the central do not use this
        // connection.
        call.reply.send()
        afterDisconnections { $0.forget(address) }
    }

    private func disconnect(_ address: DeviceAddress, _ call: DaemonCall) {
        guard devices[address]?.isConnected == true else { return _ = call.reply.fail(.notConnected) }
        server.disconnect(address)
        afterDisconnections { _ in call.reply.send() }
    }

    /// Unpairs a central, because bluetoothd did not start the pairing.
    private func cancelPairing(_ address: DeviceAddress, _ call: DaemonCall) {
        let isBonded = devices[address]?.isBonded ?? false
        server.cancelPairing(of: address)
        call.reply.fail(.doesNotExist)
        if isBonded { afterDisconnections { $0.forget(address) } }
    }

    private func setTrusted(_ address: DeviceAddress, _ isTrusted: Bool) {
        guard isTrusted != server.isTrusted(address) else { return }
        server.setTrusted(address, isTrusted)
        emitChanged([("Trusted", .bool(isTrusted))], of: address)
    }
}

// MARK: - Objects

extension AdapterService {
    /// Exports a central that was bonded before bluetoothd started.
    ///
    /// The path stays the same; the real bluetoothd would derive it from the identity address.
    func exportBonded(_ central: Central) async throws {
        let address = central.linkAddress
        devices[address] = Device(
            central: central,
            isPaired: true,
            isBonded: true,
            generation: makeNumber()
        )
        try await connection.export(makeDevice(address))
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
                        method("Disconnect", "") { $0.disconnect(address, $1) },
                        method("CancelPairing", "") { $0.cancelPairing(address, $1) },
                    ],
                    properties: [
                        property("Address", "s") {
                            .string(($0.devices[address]?.central.address ?? address).description)
                        },
                        property("AddressType", "s") {
                            .string($0.devices[address]?.central.addressTypeName ?? "random")
                        },
                        ExportedProperty("Name", .string("virtual central")),
                        ExportedProperty("Alias", .string("virtual central")),
                        property("Paired", "b", { .bool($0.devices[address]?.isPaired ?? false) }),
                        property("Bonded", "b", { .bool($0.devices[address]?.isBonded ?? false) }),
                        property("Trusted", "b", { .bool($0.server.isTrusted(address)) }) {
                            $0.setTrusted(address, $1.bool ?? false)
                        },
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

extension Central {
    /// bluetoothd's name for the kind of the address.
    fileprivate var addressTypeName: String { addressKind == .public ? "public" : "random" }
}

// MARK: - The object of the adapter

extension AdapterService {
    /// Creates the object of the adapter, with the interfaces in the order of bluetoothd.
    nonisolated func makeObject() -> ExportedObject {
        ExportedObject(
            path,
            [
                ExportedInterface(.introspectable), adapterInterface, ExportedInterface(.properties),
                gattManagerInterface, mediaInterface, advertisingManagerInterface,
            ]
        )
    }

    private nonisolated var adapterInterface: ExportedInterface {
        ExportedInterface(
            BlueZName.adapter,
            methods: [
                method("StartDiscovery", "") { _, call in call.reply.send() },
                method("StopDiscovery", "") { _, call in call.reply.send() },
                method("SetDiscoveryFilter", "a{sv}") { _, call in call.reply.send() },
                method("RemoveDevice", "o") { $0.removeDevice($1) },
                method("GetDiscoveryFilters", "", "as") { _, call in call.reply.send([.strings([])]) },
            ],
            properties: [
                ExportedProperty("Address", .string(controller.adapter.address.description)),
                ExportedProperty("AddressType", .string("public")),
                ExportedProperty("Name", .string(configuration.deviceName)),
                property("Alias", "s", { .string($0.alias) }) { $0.setAlias($1.string ?? "") },
                // The value of a Raspberry Pi.
                ExportedProperty("Class", .uint32(controller.adapter.usesClassic ? 0x6C_0000 : 0)),
                property("Powered", "b", { .bool($0.isPowered) }) { (adapter, value) throws(MethodError) in
                    if value.bool == true, adapter.controller.isBlocked { throw .blocked }
                    adapter.setPowered(value.bool ?? false)
                },
                property("Discoverable", "b", { .bool($0.discoverable) }) {
                    $0.discoverable = $1.bool ?? false
                    $0.emitChanged(BlueZName.adapter, [("Discoverable", $1)])
                },
                property("DiscoverableTimeout", "u", { _ in .uint32(180) }) { _, _ in },
                property("Pairable", "b", { .bool($0.server.isPairable) }) {
                    $0.setPairable($1.bool ?? false)
                },
                property("PairableTimeout", "u", { .uint32($0.pairableTimeout) }) {
                    $0.setPairableTimeout($1.integer(UInt32.self) ?? 0)
                },
                ExportedProperty("Discovering", .bool(false)),
                property("UUIDs", "as", { $0.serviceUUIDs }),
                ExportedProperty("Modalias", .string("usb:v1D6Bp0246d05" + minorVersionDigits)),
                ExportedProperty("Roles", .strings(["central", "peripheral"])),
            ]
        )
    }

    private nonisolated var gattManagerInterface: ExportedInterface {
        ExportedInterface(
            BlueZName.gattManager,
            methods: [
                method("RegisterApplication", "oa{sv}") { $0.registerApplication($1) },
                method("UnregisterApplication", "o") { $0.unregisterApplication($1) },
            ]
        )
    }

    private nonisolated var mediaInterface: ExportedInterface {
        ExportedInterface(
            BlueZName.media,
            properties: [
                ExportedProperty(
                    "SupportedUUIDs",
                    .strings(([0x110A, 0x110B] as [BluetoothUUID]).map(\.fullDescription))
                )
            ]
        )
    }

    private nonisolated var advertisingManagerInterface: ExportedInterface {
        var properties = [
            property("ActiveInstances", "y", { .byte($0.activeInstances) }),
            property("SupportedInstances", "y", { .byte($0.supportedInstances) }),
            ExportedProperty("SupportedIncludes", .strings(["tx-power", "appearance", "local-name"])),
        ]
        if controller.adapter.kind == .extended {
            properties.append(
                ExportedProperty("SupportedSecondaryChannels", .strings(["1M", "2M", "Coded"]))
            )
        }
        if configuration.version >= .stableAdvertisingProperties {
            properties += capabilityProperties
        }
        return ExportedInterface(
            BlueZName.advertisingManager,
            methods: [
                method("RegisterAdvertisement", "oa{sv}") { $0.registerAdvertisement($1) },
                method("UnregisterAdvertisement", "o") { $0.unregisterAdvertisement($1) },
            ],
            properties: properties
        )
    }

    /// The properties of the controller that newer versions report.
    private nonisolated var capabilityProperties: [ExportedProperty] {
        let isExtended = controller.adapter.kind == .extended
        let capacity = BusValue.byte(isExtended ? 251 : 31)
        return [
            ExportedProperty(
                "SupportedFeatures",
                .strings(isExtended ? ["CanSetTxPower", "HardwareOffload"] : [])
            ),
            ExportedProperty(
                "SupportedCapabilities",
                .properties([
                    "MinTxPower": .int16(0), "MaxTxPower": .int16(0),
                    "MaxAdvLen": capacity, "MaxScnRspLen": capacity,
                ])
            ),
        ]
    }

    private nonisolated var minorVersionDigits: String {
        let digits = String(configuration.version.minor, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
    }

    /// The UUIDs of the stack's services and, between these, of the applications' services.
    var serviceUUIDs: BusValue {
        var uuids: [BluetoothUUID] = [.genericAttribute, .genericAccess]
        let registered = applications.values.compactMap(\.content).sorted { $0.number < $1.number }
        for uuid in registered.flatMap(\.services).map(\.uuid) + [0x1200, 0x110C, 0x110E, .deviceInformation]
        where !uuids.contains(uuid) {
            uuids.append(uuid)
        }
        return .strings(uuids.map(\.fullDescription))
    }

    private func setAlias(_ alias: String) {
        controller.alias = alias.isEmpty ? nil : alias
        server.rename(self.alias)
        emitChanged(BlueZName.adapter, [("Alias", .string(self.alias))])
    }
}
