public import PeripheralCore

/// The attributes of a peripheral as a central has discovered them.
public struct DiscoveredDatabase: Hashable, Sendable {
    /// All services in the order of their handles, those of the Bluetooth stack included.
    public var services: [DiscoveredService]

    /// The services of the applications: all but the Bluetooth stack's own, and but for secondary services that no other
    /// includes, which say nothing to a central.
    ///
    /// The stack's are Generic Access, Generic Attribute and, when it comes before all other services and holds
    /// nothing but the PnP ID, Device Information: BlueZ publishes such a one by itself.
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

    /// Makes a database, for implementations of ``TestCentral``.
    public init(services: [DiscoveredService]) {
        self.services = services
    }

    /// The characteristic with this value handle.
    public func characteristic(at valueHandle: AttributeHandle) -> DiscoveredCharacteristic? {
        for service in services where service.handles.contains(valueHandle) {
            return service.characteristics.first { $0.valueHandle == valueHandle }
        }
        return nil
    }
}

/// A service as a central has discovered it.
public struct DiscoveredService: Hashable, Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID

    /// The handles of the service's declaration and of all that belongs to it.
    public var handles: ClosedRange<AttributeHandle>

    /// The characteristics in the order of their handles.
    public var characteristics: [DiscoveredCharacteristic]

    /// Whether the service is a primary one; a secondary one is there for others to include.
    public var isPrimary: Bool

    /// The services that it includes, by the handles of their declarations.
    public var includedServices: [AttributeHandle]

    /// Makes a service, for implementations of ``TestCentral``.
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

/// A characteristic as a central has discovered it.
public struct DiscoveredCharacteristic: Hashable, Sendable {
    /// The type of the characteristic.
    public var uuid: BluetoothUUID

    /// The handle of the declaration.
    public var declarationHandle: AttributeHandle

    /// The handle of the value.
    public var valueHandle: AttributeHandle

    /// The properties of the declaration; those of the extended properties descriptor are not among them.
    public var properties: CharacteristicProperties

    /// The descriptors in the order of their handles.
    public var descriptors: [DiscoveredDescriptor]

    /// Makes a characteristic, for implementations of ``TestCentral``.
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

    /// The handle of the first descriptor of a type.
    ///
    /// - Throws: ``TestCentralError`` with the code `notFound`.
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

/// A descriptor as a central has discovered it.
public struct DiscoveredDescriptor: Hashable, Sendable {
    /// The type of the descriptor.
    public var uuid: BluetoothUUID

    /// Its handle.
    public var handle: AttributeHandle

    /// Makes a descriptor, for implementations of ``TestCentral``.
    public init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}
