internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The objects on the bus: the database below one root, and the pairing agent.
struct Application: Sendable {
    static let root = AttributePaths.root

    let publication: BackendPublication
    let centrals: Centrals
    let refusals: RequestRefusals
    let requests: AttributeRequests
    let agent: PairingAgent
    private let handles: AssignedHandles
    private let properties: AttributeProperties

    init(
        _ publication: BackendPublication,
        host: any PeripheralHost,
        handles: AssignedHandles,
        on connection: BusConnection,
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        log: RunLog
    ) {
        self.publication = publication
        self.handles = handles
        centrals = Centrals(
            on: connection,
            characteristics: Self.characteristics(of: publication.table),
            kernelLinks: kernelLinks,
            fallbackRate: fallbackRate,
            handles: handles,
            log: log,
        ) { event in
            if case .handleAssigned(let handle, let onAir) = event, !handles.assign(onAir, to: handle) {
                return
            }
            host.handle(event)
        }
        refusals = RequestRefusals(of: publication.table, log: log)
        properties = AttributeProperties(of: publication.table, centrals: centrals, handles: handles)
        requests = AttributeRequests(host: host, centrals: centrals, refusals: refusals)
        agent = PairingAgent(host: host, centrals: centrals, on: connection)
    }

    /// Exports all objects.
    ///
    /// The objects of the database follow the order in which bluetoothd assigns the handles. A service
    /// precedes the services that include it.
    ///
    /// - Throws: `BusError`.
    func export(on connection: BusConnection) async throws {
        // The object manager does not announce each object on the bus, because bluetoothd reads all objects.
        try await connection.exportObjectManager(at: Self.root, of: databaseObjects())
        reportPinnedHandles()
        if publication.pairing != .system { try await connection.export(agent.object) }
    }

    /// Reports the pinned handles, because bluetoothd reports only the handles that it has chosen.
    private func reportPinnedHandles() {
        let table = publication.table
        for attribute in table.attributes {
            guard case .characteristicValue(let service, _) = attribute.kind,
                table.services[service].handle != nil
            else { continue }
            centrals.report(.handleAssigned(attribute.handle, onAir: attribute.handle))
        }
    }

    /// Reports the handles after bluetoothd has accepted the services.
    func reportHandles() {
        for (handle, onAir) in handles.succeed() { centrals.report(.handleAssigned(handle, onAir: onAir)) }
    }

    /// Returns the characteristics that send updates, by their value handles.
    private static func characteristics(
        of table: AttributeTable
    ) -> [AttributeHandle: Centrals.Characteristic] {
        var characteristics: [AttributeHandle: Centrals.Characteristic] = [:]
        for attribute in table.attributes {
            guard case .characteristicValue(let service, let characteristic) = attribute.kind else {
                continue
            }
            let description = table.services[service].characteristics[characteristic]
            guard description.properties.allowsSubscription else { continue }
            characteristics[attribute.handle] = Centrals.Characteristic(
                uuid: description.uuid,
                path: AttributePaths.characteristic(characteristic, of: service),
                isIndicated: description.properties.contains(.indicate),
                security: description.security.notify
            )
        }
        return characteristics
    }
}

// MARK: - The database

extension Application {
    private func databaseObjects() -> [ExportedObject] {
        var objects: [ExportedObject] = []
        let table = publication.table
        for attribute in handles.order.flatMap(table.attributes(ofService:)) {
            switch attribute.kind {
            case .serviceDeclaration(let service):
                objects.append(serviceObject(service, attribute.handle))
            case .characteristicValue(let service, let characteristic):
                objects.append(characteristicObject(service, characteristic, attribute.handle))
            case .descriptor(let service, let characteristic, let descriptor):
                objects.append(descriptorObject(service, characteristic, descriptor, attribute.handle))
            case .include, .characteristicDeclaration, .clientCharacteristicConfiguration,
                .extendedProperties:
                break
            }
        }
        return objects
    }

    private func serviceObject(_ service: Int, _ handle: AttributeHandle) -> ExportedObject {
        let interface = ExportedInterface(BlueZ.service, callers: BlueZ.name) { [properties] in
            properties.ofService(service, at: handle)
        }
        return ExportedObject(AttributePaths.service(service), [interface])
    }

    private func characteristicObject(
        _ service: Int,
        _ characteristic: Int,
        _ handle: AttributeHandle
    ) -> ExportedObject {
        let description = publication.table.services[service].characteristics[characteristic]
        let security = description.security
        var methods = [
            // bluetoothd forwards requests even without the property, but does not check their security.
            requests.readMethod(
                of: handle,
                at: description.properties.contains(.read) ? security.read : .open
            ),
            requests.writeMethod(of: handle, at: description.properties.canWrite ? security.write : .open),
        ]
        if description.properties.allowsSubscription { methods += requests.subscriptionMethods(of: handle) }
        let interface = ExportedInterface(
            BlueZ.characteristic,
            callers: BlueZ.name,
            methods: methods
        ) { [properties] in
            properties.ofCharacteristic(characteristic, of: service, at: handle)
        }
        return ExportedObject(AttributePaths.characteristic(characteristic, of: service), [interface])
    }

    private func descriptorObject(
        _ service: Int,
        _ characteristic: Int,
        _ descriptor: Int,
        _ handle: AttributeHandle
    ) -> ExportedObject {
        let parent = publication.table.services[service].characteristics[characteristic]
        let security = parent.descriptors[descriptor].security
        let interface = ExportedInterface(
            BlueZ.descriptor,
            callers: BlueZ.name,
            methods: [
                requests.readMethod(of: handle, at: security.read),
                requests.writeMethod(of: handle, at: security.write),
            ]
        ) { [properties] in
            properties.ofDescriptor(descriptor, of: characteristic, of: service, at: handle)
        }
        return ExportedObject(
            AttributePaths.descriptor(descriptor, of: characteristic, of: service),
            [interface]
        )
    }
}
