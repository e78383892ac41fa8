public import PeripheralCore

/// The attributes of a peripheral that a central has discovered.
public struct DiscoveredDatabase: Hashable, Sendable {
    /// All services in the order of their handles, including the services of the Bluetooth stack.
    public var services: [DiscoveredService]

    /// The services of programs, without the services of the Bluetooth stack.
    ///
    /// The list omits each secondary service that no other service includes, because a central cannot use
    /// such a service.
    ///
    /// The services of the stack are Generic Access, Generic Attribute and the Device Information service
    /// that BlueZ publishes. The property recognizes BlueZ's Device Information service by two facts. This
    /// service precedes all services of programs, and the PnP ID is its only characteristic.
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

    /// Creates a database, for implementations of `TestCentral`.
    public init(services: [DiscoveredService]) {
        self.services = services
    }

    /// Returns the characteristic with this value handle.
    public func characteristic(at valueHandle: AttributeHandle) -> DiscoveredCharacteristic? {
        for service in services where service.handles.contains(valueHandle) {
            return service.characteristics.first { $0.valueHandle == valueHandle }
        }
        return nil
    }
}

/// A service that a central has discovered.
public struct DiscoveredService: Hashable, Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID

    /// The handles of the service's declaration and of all its attributes.
    public var handles: ClosedRange<AttributeHandle>

    /// The characteristics in the order of their handles.
    public var characteristics: [DiscoveredCharacteristic]

    /// Whether the service is primary.
    ///
    /// A service that is not primary is secondary. Other services include a secondary service.
    public var isPrimary: Bool

    /// The handles of the declarations of the included services.
    public var includedServices: [AttributeHandle]

    /// Creates a service, for implementations of `TestCentral`.
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
    /// The type of the characteristic.
    public var uuid: BluetoothUUID

    /// The handle of the declaration.
    public var declarationHandle: AttributeHandle

    /// The handle of the value.
    public var valueHandle: AttributeHandle

    /// The properties of the declaration, without the extended properties.
    public var properties: CharacteristicProperties

    /// The descriptors in the order of their handles.
    public var descriptors: [DiscoveredDescriptor]

    /// Creates a characteristic, for implementations of `TestCentral`.
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

    /// Returns the handle of the first descriptor of a type.
    ///
    /// - Throws: ``TestCentralError`` with the code `notFound` when there is no such descriptor.
    public func handle(of descriptor: BluetoothUUID) throws(TestCentralError) -> AttributeHandle {
        guard let found = descriptors.first(where: { $0.uuid == descriptor }) else {
            throw TestCentralError(
                code: .notFound,
                message: "Characteristic \(uuid) has no descriptor \(descriptor)."
            )
        }
        return found.handle
    }
}

/// A descriptor that a central has discovered.
public struct DiscoveredDescriptor: Hashable, Sendable {
    /// The type of the descriptor.
    public var uuid: BluetoothUUID

    /// The handle of the descriptor.
    public var handle: AttributeHandle

    /// Creates a descriptor, for implementations of `TestCentral`.
    public init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}
