internal import PeripheralBlueZModel
internal import PeripheralCore

extension ServerDatabase {
    /// Adds the services that bluetoothd itself publishes, at its handles.
    ///
    /// They are those of a controller without address resolution and of the default configuration.
    mutating func addBuiltInServices(deviceName: String, version: BlueZVersion) {
        var genericAccess = BuiltInService(.genericAccess, at: 0x0001)
        genericAccess.add(.deviceName, .fixed(Array(deviceName.utf8)))
        genericAccess.add(.appearance, .fixed([0, 0]))
        if version < BlueZVersion(major: 5, minor: 81) {
            genericAccess.add(.centralAddressResolution, .fixed([1]))
        }
        insert(genericAccess)

        var genericAttribute = BuiltInService(.genericAttribute, at: genericAccess.next)
        genericAttribute.add(.serviceChanged, .fixed([]), properties: .indicate)
        genericAttribute.add(.clientSupportedFeatures, .clientFeatures, properties: [.read, .write])
        genericAttribute.add(.databaseHash, .databaseHash)
        serviceChanged = genericAttribute.characteristics[0].valueHandle
        if version < BlueZVersion(major: 5, minor: 67) {
            // Enhanced ATT.
            genericAttribute.add(.serverSupportedFeatures, .fixed([1]))
        }
        // These handles are reserved in any case.
        genericAttribute.next = genericAttribute.start.rawValue + 10
        insert(genericAttribute)

        var deviceInformation = BuiltInService(.deviceInformation, at: genericAttribute.next)
        // PnP ID: Linux Foundation, BlueZ, and the version.
        let product = [UInt8(clamping: version.minor), UInt8(clamping: version.major)]
        deviceInformation.add(.pnpID, .fixed([0x02, 0x6B, 0x1D, 0x46, 0x02] + product))
        insert(deviceInformation)
    }

    private mutating func insert(_ service: BuiltInService) {
        insert(
            DiscoveredService(
                uuid: service.uuid,
                handles: service.start...AttributeHandle(rawValue: service.next - 1),
                characteristics: service.characteristics
            ),
            of: nil,
            attributes: service.attributes
        )
    }
}

/// A service of the stack under construction.
private struct BuiltInService {
    let uuid: BluetoothUUID
    let start: AttributeHandle
    var next: UInt16
    var characteristics: [DiscoveredCharacteristic] = []
    var attributes: [ServerAttribute] = []

    init(_ uuid: BluetoothUUID, at start: UInt16) {
        self.uuid = uuid
        self.start = AttributeHandle(rawValue: start)
        next = start
        attributes.append(.serviceDeclaration(uuid, at: takeHandle()))
    }

    mutating func takeHandle() -> AttributeHandle {
        defer { next += 1 }
        return AttributeHandle(rawValue: next)
    }

    mutating func add(
        _ uuid: BluetoothUUID,
        _ content: ServerAttribute.Content,
        properties: CharacteristicProperties = .read
    ) {
        let declaration = takeHandle()
        let value = takeHandle()
        var permissions: DescriptorPermissions = []
        if properties.contains(.read) { permissions.insert(.read) }
        if properties.contains(.write) { permissions.insert(.write) }
        var characteristic = DiscoveredCharacteristic(
            uuid: uuid,
            declarationHandle: declaration,
            valueHandle: value,
            properties: properties,
            descriptors: []
        )
        attributes.append(.characteristicDeclaration(characteristic, properties: properties.declarationByte))
        attributes.append(
            ServerAttribute(handle: value, permissions: permissions, content: content)
        )
        if properties.contains(.indicate) {
            let configuration = takeHandle()
            attributes.append(
                ServerAttribute(
                    handle: configuration,
                    permissions: [.read, .write],
                    content: .configuration(of: value)
                )
            )
            characteristic.descriptors.append(
                DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: configuration)
            )
        }
        characteristics.append(characteristic)
    }
}
