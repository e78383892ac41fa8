internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralTesting

/// A GATT application as bluetoothd understands it: its services, and which object of the application stands for
/// which attribute.
struct ApplicationDescription {
    /// An object that stands for an attribute.
    struct Object: Hashable, Sendable {
        var path: ObjectPath
        var interface: InterfaceName
        /// Whether the object has a property `Handle` that asks for the handle on the air.
        var wantsHandle: Bool
        /// Whether bluetoothd asks for a socket when a central subscribes.
        var acquiresNotify = false
        /// Whether bluetoothd asks for a socket when a central writes.
        var acquiresWrites = false
    }

    let table: AttributeTable
    /// By the handles of ``table``.
    private(set) var objects: [AttributeHandle: Object] = [:]
    /// The attributes that are prepared for writing with the consent of the application only.
    private(set) var authorizing: Set<AttributeHandle> = []

    /// Reads what `GetManagedObjects` answered.
    ///
    /// What is pinned within a service has to stand where it would anyway. bluetoothd 5.66 takes gaps, and leaves out
    /// what finds no room then; newer versions refuse them.
    ///
    /// - Throws: The error that `RegisterApplication` is refused with.
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

    /// The value handles by the paths of the characteristics.
    var characteristics: [ObjectPath: AttributeHandle] {
        let characteristics = objects.filter { $0.value.interface == BlueZName.gattCharacteristic }
        return Dictionary(characteristics.map { ($0.value.path, $0.key) }) { first, _ in first }
    }
}

extension ManagedInterface {
    /// Whether the object, if it is pinned, is so to this handle, in a service that is pinned itself.
    fileprivate func mayStand(at handle: AttributeHandle, _ serviceIsPinned: Bool) -> Bool {
        guard let pin = properties["Handle"]?.integer(UInt16.self), pin != 0 else { return true }
        return serviceIsPinned && pin == handle.rawValue
    }
}

extension ApplicationDescription.Object {
    fileprivate init(_ object: ManagedInterface, _ interface: InterfaceName) {
        path = object.path
        self.interface = interface
        // Without one, or with one that is pinned, nobody is told.
        wantsHandle = object.properties["Handle"]?.integer(UInt16.self) == 0
        // Their presence counts, whatever they say.
        acquiresNotify = object.properties["NotifyAcquired"] != nil
        acquiresWrites = object.properties["WriteAcquired"] != nil
    }
}
