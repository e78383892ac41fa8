internal import PeripheralBlueZModel
internal import PeripheralCore

/// The attributes of a ``VirtualGATTServer``: those of the stack, then those of the applications.
struct ServerDatabase: Sendable {
    private struct Service: Sendable {
        var owner: ApplicationID?
        var discovered: DiscoveredService
    }

    private var services: [Service] = []
    private var attributes: [AttributeHandle: ServerAttribute] = [:]
    /// The handles on the air, by those of the application's own table.
    private var handles: [ApplicationID: [AttributeHandle: AttributeHandle]] = [:]
    /// The properties of the applications' characteristics, by value handle.
    private var characteristics: [AttributeHandle: CharacteristicProperties] = [:]
    /// The applications that have lost a service to ``removeService(equalTo:at:)``.
    private(set) var robbed: Set<ApplicationID> = []
    /// Handles are never assigned twice, because centrals may have cached the previous attributes.
    private(set) var nextHandle = 1

    init(deviceName: String, version: BlueZVersion) {
        addBuiltInServices(deviceName: deviceName, version: version)
    }

    /// Changes the device name, which is the first value.
    mutating func rename(_ name: String) {
        attributes[AttributeHandle(rawValue: 0x0003)]?.content = .fixed(Array(name.utf8))
    }

    /// The value handle of Service Changed.
    var serviceChanged = AttributeHandle(rawValue: 0x000A)

    var discovered: DiscoveredDatabase {
        DiscoveredDatabase(services: services.map(\.discovered))
    }

    subscript(handle: AttributeHandle) -> ServerAttribute? {
        attributes[handle]
    }

    /// The application of a characteristic or descriptor, with the handle in the application's own table.
    func application(of handle: AttributeHandle) -> (ApplicationID, AttributeHandle)? {
        guard case .application(let application, let local, _) = attributes[handle]?.content else {
            return nil
        }
        return (application, local)
    }

    /// The handles of an application's services, values and descriptors, by the handles of its own table.
    func handles(of application: ApplicationID) -> [AttributeHandle: AttributeHandle] {
        handles[application] ?? [:]
    }

    /// The service that prevents another one from using these handles.
    ///
    /// bluetoothd checks only whether the ends of the range are in a service (`find_insert_loc` in
    /// gatt-db.c).
    func service(inTheWayOf range: ClosedRange<AttributeHandle>, asBluetoothd: Bool) -> DiscoveredService? {
        services.map(\.discovered).first { service in
            asBluetoothd
                ? service.handles.contains(range.lowerBound) || service.handles.contains(range.upperBound)
                : service.handles.overlaps(range)
        }
    }

    /// Removes a service of another application that is equal to a service being added.
    ///
    /// bluetoothd treats the two as one (`gatt_db_insert_service` in gatt-db.c). There is no room for the
    /// characteristics then, so it removes the service.
    ///
    /// - Returns: Whether there was an equal service.
    mutating func removeService(
        equalTo service: ServiceDescription,
        at range: ClosedRange<AttributeHandle>
    ) -> Bool {
        let index = services.firstIndex {
            $0.owner != nil && $0.discovered.handles == range && $0.discovered.uuid == service.uuid
                && $0.discovered.isPrimary == service.isPrimary
        }
        guard !service.characteristics.isEmpty, let index, let owner = services.remove(at: index).owner else {
            return false
        }
        robbed.insert(owner)
        removeService(at: range)
        return true
    }

    func handle(of local: AttributeHandle, in application: ApplicationID) -> AttributeHandle? {
        handles[application]?[local]
    }

    func serviceHandles(of application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        services.filter { $0.owner == application }.map(\.discovered.handles)
    }

    /// The properties of the characteristic with this value handle, including extended ones.
    func properties(of characteristic: AttributeHandle) -> CharacteristicProperties {
        characteristics[characteristic] ?? []
    }

    func allowsReliableWrites(_ handle: AttributeHandle) -> Bool {
        properties(of: handle).contains(.reliableWrite)
    }

    /// A substitute for the database hash: 16 bytes that change with the database.
    ///
    /// It is not the AES-CMAC of Core Specification, Vol 3, Part G, 7.3.
    var hash: [UInt8] {
        var lanes: [UInt64] = [0xCBF2_9CE4_8422_2325, 0x8422_2325_CBF2_9CE4]
        for handle in attributes.keys.sorted() {
            guard case .fixed(let value) = attributes[handle]?.content else { continue }
            for byte in [UInt8(handle.rawValue & 0xFF), UInt8(handle.rawValue >> 8)] + value {
                lanes = lanes.map { ($0 ^ UInt64(byte)) &* 0x0100_0000_01B3 }
            }
        }
        return lanes.flatMap { lane in (0..<8).map { UInt8(truncatingIfNeeded: lane >> (8 * $0)) } }
    }

    // MARK: Changes

    mutating func insert(
        _ service: DiscoveredService,
        of owner: ApplicationID?,
        attributes added: [ServerAttribute],
        properties: [AttributeHandle: CharacteristicProperties] = [:]
    ) {
        let position = services.firstIndex { $0.discovered.handles.lowerBound > service.handles.lowerBound }
        services.insert(Service(owner: owner, discovered: service), at: position ?? services.endIndex)
        for attribute in added {
            attributes[attribute.handle] = attribute
            if case .application(let application, let local, _) = attribute.content {
                handles[application, default: [:]][local] = attribute.handle
            }
        }
        characteristics.merge(properties) { $1 }
        nextHandle = max(nextHandle, Int(service.handles.upperBound.rawValue) + 1)
    }

    /// Records which handle belongs to which handle of the application's own table.
    mutating func note(
        _ pairs: [(local: AttributeHandle, onAir: AttributeHandle)],
        of application: ApplicationID
    ) {
        for (local, onAir) in pairs { handles[application, default: [:]][local] = onAir }
    }

    /// Removes all services of an application.
    ///
    /// - Returns: The handles of the removed services.
    mutating func remove(_ application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        let removed = serviceHandles(of: application)
        for range in removed { removeService(at: range) }
        handles[application] = nil
        return removed
    }

    /// Removes the service of an application that begins at a handle of the application's own table.
    ///
    /// - Returns: The handles of the service; `nil` if there is no such service.
    mutating func removeService(
        at local: AttributeHandle,
        of application: ApplicationID
    ) -> ClosedRange<AttributeHandle>? {
        guard let start = handle(of: local, in: application),
            let range = serviceHandles(of: application).first(where: { $0.lowerBound == start })
        else { return nil }
        removeService(at: range)
        handles[application] = handles[application]?.filter { !range.contains($0.value) }
        return range
    }

    private mutating func removeService(at range: ClosedRange<AttributeHandle>) {
        services.removeAll { $0.discovered.handles == range }
        attributes = attributes.filter { !range.contains($0.key) }
        characteristics = characteristics.filter { !range.contains($0.key) }
    }
}
