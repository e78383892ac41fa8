public import PeripheralCore

/// The attributes that a central has discovered on a peripheral.
public struct DiscoveredDatabase: Hashable, Sendable {
    /// All services in the order of their handles, including the services of the Bluetooth stack.
    public var services: [DiscoveredService]

    /// The services that programs have registered.
    ///
    /// The array omits the services of the Bluetooth stack, and the secondary services that no other service
    /// includes. A central can use a secondary service only if another service includes the secondary
    /// service.
    ///
    /// The services of the Bluetooth stack are Generic Access, Generic Attribute and the Device Information
    /// service that BlueZ publishes. The Device Information service of BlueZ precedes all services of
    /// programs, and contains only the PnP ID characteristic. The array omits the first service after Generic
    /// Access and Generic Attribute if it is a Device Information service with only that characteristic.
    public var applicationServices: [DiscoveredService] {
        let included = Set(services.flatMap(\.includedServices))
        let others = services.filter {
            $0.uuid != .genericAccess && $0.uuid != .genericAttribute
                && ($0.isPrimary || included.contains($0.handles.lowerBound))
        }
        guard let first = others.first,
            first.uuid == .deviceInformation,
            first.characteristics.map(\.uuid) == [.pnpID]
        else { return others }
        return Array(others.dropFirst())
    }

    /// Creates a discovered database.
    ///
    /// Use this initializer when you implement `TestCentral`.
    public init(services: [DiscoveredService]) {
        self.services = services
    }

    /// Returns the characteristic with the given value handle.
    public func characteristic(at valueHandle: AttributeHandle) -> DiscoveredCharacteristic? {
        for service in services where service.handles.contains(valueHandle) {
            return service.characteristics.first { $0.valueHandle == valueHandle }
        }
        return nil
    }
}

/// A service that a central has discovered.
public struct DiscoveredService: Hashable, Sendable {
    /// The UUID that identifies the type of the service.
    public var uuid: BluetoothUUID

    /// The handles of the service, from its declaration to its last attribute.
    public var handles: ClosedRange<AttributeHandle>

    /// The characteristics in the order of their handles.
    public var characteristics: [DiscoveredCharacteristic]

    /// Whether the service is a primary service.
    ///
    /// If the property is `false`, the service is a secondary service. The purpose of a secondary service is
    /// to be included in other services.
    public var isPrimary: Bool

    /// The declaration handles of the included services.
    public var includedServices: [AttributeHandle]

    /// Creates a discovered service.
    ///
    /// Use this initializer when you implement `TestCentral`.
    public init(
        uuid: BluetoothUUID,
        handles: ClosedRange<AttributeHandle>,
        characteristics: [DiscoveredCharacteristic],
        isPrimary: Bool = true,
        includedServices: [AttributeHandle] = []
    ) {
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.uuid = uuid
        self.handles = handles
        self.characteristics = characteristics
    }
}

/// A characteristic that a central has discovered.
public struct DiscoveredCharacteristic: Hashable, Sendable {
    /// The UUID that identifies the type of the characteristic.
    public var uuid: BluetoothUUID

    /// The handle of the characteristic declaration.
    public var declarationHandle: AttributeHandle

    /// The handle of the characteristic value.
    public var valueHandle: AttributeHandle

    /// The properties in the characteristic declaration, without the extended properties.
    public var properties: CharacteristicProperties

    /// The descriptors in the order of their handles.
    public var descriptors: [DiscoveredDescriptor]

    /// Creates a discovered characteristic.
    ///
    /// Use this initializer when you implement `TestCentral`.
    public init(
        uuid: BluetoothUUID,
        declarationHandle: AttributeHandle,
        valueHandle: AttributeHandle,
        properties: CharacteristicProperties,
        descriptors: [DiscoveredDescriptor]
    ) {
        self.uuid = uuid
        self.declarationHandle = declarationHandle
        self.valueHandle = valueHandle
        self.properties = properties
        self.descriptors = descriptors
    }

    /// Returns the handle of the first descriptor with the given type.
    ///
    /// - Throws: ``TestCentralError`` with the code `notFound` when the characteristic has no descriptor of
    ///   the given type.
    public func handle(of descriptor: BluetoothUUID) throws(TestCentralError) -> AttributeHandle {
        guard let found = descriptors.first(where: { $0.uuid == descriptor }) else {
            throw TestCentralError(
                code: .notFound,
                message: descriptor == 0x2902
                    ? "Characteristic \(uuid) has no notifications and no indications. "
                        + "Declare it with .notify or .indicate."
                    : "Characteristic \(uuid) has no descriptor \(descriptor)."
            )
        }
        return found.handle
    }
}

/// A descriptor that a central has discovered.
public struct DiscoveredDescriptor: Hashable, Sendable {
    /// The UUID that identifies the type of the descriptor.
    public var uuid: BluetoothUUID

    /// The handle of the descriptor.
    public var handle: AttributeHandle

    /// Creates a discovered descriptor.
    ///
    /// Use this initializer when you implement `TestCentral`.
    public init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}
