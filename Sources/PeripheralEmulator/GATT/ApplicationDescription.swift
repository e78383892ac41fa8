internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralTesting

/// A GATT application as bluetoothd interprets it, with its services and the object for each attribute.
struct ApplicationDescription {
    /// An object that represents an attribute.
    struct Object: Hashable, Sendable {
        var path: ObjectPath
        var interface: InterfaceName
        /// Whether the object requests the handle on the air with a property `Handle`.
        var wantsHandle: Bool
        /// Whether bluetoothd requests a socket when a central subscribes.
        var acquiresNotify = false
        /// Whether bluetoothd requests a socket when a central writes.
        var acquiresWrites = false
    }

    let table: AttributeTable
    /// The objects by the handles of ``table``.
    private(set) var objects: [AttributeHandle: Object] = [:]
    /// The attributes whose prepared writes the application must authorize.
    private(set) var authorizing: Set<AttributeHandle> = []

    /// Creates a description from the result of `GetManagedObjects`.
    ///
    /// A pinned attribute in a service must have the handle that bluetoothd would assign anyway. bluetoothd
    /// 5.66 accepts gaps, and then omits attributes that find no room. Newer versions refuse gaps.
    ///
    /// - Throws: The error that refuses `RegisterApplication`.
    init(_ answer: [BusValue], version: BlueZVersion) throws(MethodError) {
        let interfaces = ManagedInterface.list(answer)
        guard !interfaces.isEmpty else { throw .bluez(failed: "No object received") }
        let draft = try ApplicationDraft(interfaces)
        let services = try draft.describe(version)
        do {
            table = try AttributeTable(services: services)
        } catch {
            throw .notCreated
        }
        for (service, content) in draft.services.enumerated() {
            objects[table.serviceRange(service).lowerBound] = Object(content.object, BlueZName.gattService)
            let isPinned = services[service].handle != nil
            for (characteristic, content) in content.characteristics.enumerated() {
                let handle = table.valueHandle(service: service, characteristic: characteristic)
                guard content.object.mayStand(at: handle, isPinned) else { throw .notCreated }
                objects[handle] = Object(content.object, BlueZName.gattCharacteristic)
                if content.flags.authorizesWrites { authorizing.insert(handle) }
                for (descriptor, content) in content.descriptors.enumerated() {
                    let handle = table.descriptorHandle(
                        service: service,
                        characteristic: characteristic,
                        descriptor: descriptor
                    )
                    guard content.object.mayStand(at: handle, isPinned) else { throw .notCreated }
                    objects[handle] = Object(content.object, BlueZName.gattDescriptor)
                    if content.flags.authorizesWrites { authorizing.insert(handle) }
                }
            }
        }
    }

    /// The services in their order.
    var services: [RegisteredApplication.Service] {
        table.services.indices.map { index in
            let handles = table.serviceRange(index)
            return RegisteredApplication.Service(
                uuid: table.services[index].uuid,
                handles: handles,
                path: objects[handles.lowerBound]?.path
            )
        }
    }

    /// The value handles, by the paths of the characteristics.
    var characteristics: [ObjectPath: AttributeHandle] {
        let characteristics = objects.filter { $0.value.interface == BlueZName.gattCharacteristic }
        return Dictionary(characteristics.map { ($0.value.path, $0.key) }) { first, _ in first }
    }
}

extension ManagedInterface {
    /// Returns whether the object is not pinned, or is pinned to this handle in a pinned service.
    fileprivate func mayStand(at handle: AttributeHandle, _ serviceIsPinned: Bool) -> Bool {
        guard let pin = properties["Handle"]?.integer(UInt16.self), pin != 0 else { return true }
        return serviceIsPinned && pin == handle.rawValue
    }
}

extension ApplicationDescription.Object {
    fileprivate init(_ object: ManagedInterface, _ interface: InterfaceName) {
        path = object.path
        self.interface = interface
        // Without the property, or with a pinned handle, the handle is not reported.
        wantsHandle = object.properties["Handle"]?.integer(UInt16.self) == 0
        // Only the presence of these properties matters, not their values.
        acquiresNotify = object.properties["NotifyAcquired"] != nil
        acquiresWrites = object.properties["WriteAcquired"] != nil
    }
}
