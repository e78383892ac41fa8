internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralTesting

/// The objects of an application, processed in the two steps of bluetoothd.
///
/// 1. bluetoothd collects the objects: services, then characteristics, then descriptors. Each kind is in the
///    order of the method return. An object without a parent or with unknown flags makes the application
///    invalid.
/// 2. bluetoothd creates the database. An object without a valid UUID makes the application invalid.
struct ApplicationDraft {
    struct Service {
        let object: ManagedInterface
        var characteristics: [Characteristic] = []
    }

    struct Characteristic {
        let object: ManagedInterface
        let flags: AttributeFlags
        var descriptors: [Descriptor] = []
    }

    struct Descriptor {
        let object: ManagedInterface
        let flags: AttributeFlags
    }

    /// The combined meaning of all flags of an object.
    struct AttributeFlags {
        var properties: CharacteristicProperties = []
        var permissions: DescriptorPermissions = []
        var security = AttributeSecurity.open
        /// Whether the application authorizes a central before it prepares a write.
        var authorizesWrites = false
    }

    private(set) var services: [Service] = []

    /// Collects the objects.
    init(_ interfaces: [ManagedInterface]) throws(MethodError) {
        services = interfaces.filter { $0.name == BlueZName.gattService.text }.map { Service(object: $0) }
        for object in interfaces where object.name == BlueZName.gattCharacteristic.text {
            guard let path = object.properties["Service"]?.objectPath,
                let service = services.firstIndex(where: { $0.object.path == path })
            else { throw .invalidObject }
            let flags = try AttributeFlags(of: object, AttributeFlag.init(characteristic:))
            services[service].characteristics.append(Characteristic(object: object, flags: flags))
        }
        for object in interfaces where object.name == BlueZName.gattDescriptor.text {
            let flags = try AttributeFlags(of: object, AttributeFlag.init(descriptor:))
            try add(Descriptor(object: object, flags: flags))
        }
        guard !services.isEmpty else { throw .invalidObject }
    }

    private mutating func add(_ descriptor: Descriptor) throws(MethodError) {
        let path = descriptor.object.properties["Characteristic"]?.objectPath
        for service in services.indices {
            let characteristics = services[service].characteristics
            if let index = characteristics.firstIndex(where: { $0.object.path == path }) {
                services[service].characteristics[index].descriptors.append(descriptor)
                return
            }
        }
        throw .invalidObject
    }

    /// Returns the services of the database.
    func describe(_ version: BlueZVersion) throws(MethodError) -> [ServiceDescription] {
        var descriptions: [ServiceDescription] = []
        for service in services {
            guard let isPrimary = service.object.properties["Primary"]?.bool else { throw .notCreated }
            var description = ServiceDescription(uuid: try uuid(of: service.object), isPrimary: isPrimary)
            let handle = service.object.properties["Handle"]?.integer(UInt16.self) ?? 0
            description.handle = handle == 0 ? nil : AttributeHandle(rawValue: handle)
            description.includedServices = try includes(of: service, before: descriptions.count)
            for characteristic in service.characteristics {
                // In these versions, a characteristic that requests its handle receives no handle.
                let asks = characteristic.object.properties["Handle"]?.integer(UInt16.self) == 0
                guard !asks || !Self.versionsWithoutHandles.contains(version) else { throw .notCreated }
                description.characteristics.append(try describe(characteristic))
            }
            descriptions.append(description)
        }
        return descriptions
    }

    private static let versionsWithoutHandles =
        BlueZVersion(major: 5, minor: 74)...BlueZVersion(major: 5, minor: 75)

    private func describe(_ characteristic: Characteristic) throws(MethodError) -> CharacteristicDescription {
        var description = CharacteristicDescription(
            uuid: try uuid(of: characteristic.object),
            properties: characteristic.flags.properties,
            security: characteristic.flags.security
        )
        for descriptor in characteristic.descriptors {
            description.descriptors.append(
                DescriptorDescription(
                    uuid: try uuid(of: descriptor.object),
                    permissions: descriptor.flags.permissions,
                    security: descriptor.flags.security
                )
            )
        }
        return description
    }

    private func uuid(of object: ManagedInterface) throws(MethodError) -> BluetoothUUID {
        // The generic services belong to bluetoothd, wherever their UUIDs appear.
        guard let text = object.properties["UUID"]?.string, let uuid = BluetoothUUID(text),
            uuid != .genericAccess, uuid != .genericAttribute, hasValidHandle(object)
        else { throw .notCreated }
        return uuid
    }

    /// Returns whether the optional handle is a number of 16 bits.
    private func hasValidHandle(_ object: ManagedInterface) -> Bool {
        guard let handle = object.properties["Handle"] else { return true }
        return handle.signature == "q"
    }

    /// Returns the indices of included services, without unknown paths and services that follow later.
    private func includes(of service: Service, before count: Int) throws(MethodError) -> [Int] {
        guard let includes = service.object.properties["Includes"] else { return [] }
        guard let paths = includes.elements, includes.signature == "ao" else { throw .notCreated }
        return paths.compactMap { path in
            services.prefix(count).firstIndex { $0.object.path == path.objectPath }
        }
    }
}

extension ApplicationDraft.AttributeFlags {
    fileprivate init(
        of object: ManagedInterface,
        _ read: (String) -> AttributeFlag?
    ) throws(MethodError) {
        guard let flags = object.properties["Flags"]?.elements, !flags.isEmpty else { throw .invalidObject }
        for flag in flags {
            guard let text = flag.string, let flag = read(text) else { throw .invalidObject }
            properties.formUnion(flag.properties)
            permissions.formUnion(flag.permissions)
            security.tighten(by: flag.security)
            authorizesWrites = authorizesWrites || flag.authorizesWrites
        }
    }
}

extension MethodError {
    fileprivate static let invalidObject = MethodError.bluez(failed: "No valid service object found")
    static let notCreated = MethodError.bluez(failed: "Failed to create entry in database")
}
