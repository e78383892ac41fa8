internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralTesting

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
                ExportedProperty("Class", .uint32(0)),
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
                property("PairableTimeout", "u", { _ in .uint32(0) }) { _, _ in },
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
        for uuid in registered.flatMap(\.services) + [0x1200, 0x110C, 0x110E, .deviceInformation]
        where !uuids.contains(uuid) {
            uuids.append(uuid)
        }
        return .strings(uuids.map(\.fullDescription))
    }

    private func setAlias(_ alias: String) {
        self.alias = alias.isEmpty ? configuration.deviceName : alias
        emitChanged(BlueZName.adapter, [("Alias", .string(self.alias))])
    }
}
