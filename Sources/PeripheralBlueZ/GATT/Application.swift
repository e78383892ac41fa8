internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The objects of one application: services below one root, which bluetoothd registers together.
struct Application: Sendable {
    let group: ServiceGroup
    private let centrals: Centrals
    private let requests: AttributeRequests
    private let properties: AttributeProperties
    private let paths: AttributePaths

    init(
        of group: ServiceGroup,
        host: any PeripheralHost,
        centrals: Centrals,
        version: BlueZVersion,
        log: RunLog
    ) {
        self.group = group
        self.centrals = centrals
        paths = AttributePaths(ofApplication: group.number)
        properties = AttributeProperties(
            of: group.table,
            centrals: centrals,
            handles: group.handles,
            at: paths
        )
        requests = AttributeRequests(
            host: host,
            centrals: centrals,
            refusals: RequestRefusals(of: group.table, version: version, log: log)
        )
    }

    var root: ObjectPath { paths.root }

    /// Exports all objects.
    ///
    /// The objects follow the order in which bluetoothd assigns the handles. A service precedes the services
    /// that include it.
    ///
    /// - Throws: `BusError`.
    func export(on connection: BusConnection) async throws {
        await centrals.add(characteristics)
        // The object manager does not announce each object on the bus, because bluetoothd reads all objects.
        try await connection.exportObjectManager(at: root, of: group.handles.order.flatMap(objects))
        reportPinnedHandles()
    }

    /// Removes the objects of a service, which makes bluetoothd remove the service.
    func withdraw(_ service: Int, from connection: BusConnection) async {
        for object in objects(of: service).reversed() { await connection.withdraw(object.path) }
    }

    /// Removes all objects after bluetoothd has removed the application.
    func withdraw(from connection: BusConnection) async {
        // The object manager is removed first and therefore announces no removal.
        await connection.withdrawObjectManager(at: root)
        for service in group.table.services.indices { await withdraw(service, from: connection) }
    }

    /// Reports the pinned handles, because bluetoothd reports only the handles that it has chosen.
    private func reportPinnedHandles() {
        for attribute in group.handles.order.flatMap(group.table.attributes(ofService:)) {
            guard let onAir = group.table.pinnedHandle(of: attribute) else { continue }
            switch attribute.kind {
            case .serviceDeclaration, .characteristicValue:
                _ = group.handles.assign(onAir, to: attribute.handle)
                centrals.report(.handleAssigned(attribute.handle, onAir: onAir))
            default: break
            }
        }
    }

    /// Reports the handles after bluetoothd has accepted the services.
    func reportHandles() {
        for (handle, onAir) in group.handles.succeed() {
            centrals.report(.handleAssigned(handle, onAir: onAir))
        }
    }

    /// The value handles of the characteristics that send updates.
    var characteristicHandles: [AttributeHandle] { Array(characteristics.keys) }

    /// The value handles of the characteristics of a service.
    func characteristicHandles(ofService service: Int) -> [AttributeHandle] {
        group.table.services[service].characteristics.indices.map {
            group.table.valueHandle(service: service, characteristic: $0)
        }
    }

    /// The characteristics that send updates, by their value handles.
    private var characteristics: [AttributeHandle: Centrals.Characteristic] {
        let table = group.table
        var characteristics: [AttributeHandle: Centrals.Characteristic] = [:]
        for attribute in group.handles.order.flatMap(table.attributes(ofService:)) {
            guard case .characteristicValue(let service, let characteristic) = attribute.kind else {
                continue
            }
            let description = table.services[service].characteristics[characteristic]
            guard description.properties.allowsSubscription else { continue }
            characteristics[attribute.handle] = Centrals.Characteristic(
                uuid: description.uuid,
                path: paths.characteristic(characteristic, of: service),
                isIndicated: description.properties.contains(.indicate),
                isNotified: description.properties.contains(.notify),
                security: description.security.notify,
                handles: group.handles
            )
        }
        return characteristics
    }
}

// MARK: - The database

extension Application {
    private func objects(of service: Int) -> [ExportedObject] {
        group.table.attributes(ofService: service).compactMap { attribute in
            switch attribute.kind {
            case .serviceDeclaration(let service):
                serviceObject(service, attribute.handle)
            case .characteristicValue(let service, let characteristic):
                characteristicObject(service, characteristic, attribute.handle)
            case .descriptor(let service, let characteristic, let descriptor):
                descriptorObject(service, characteristic, descriptor, attribute.handle)
            case .include, .characteristicDeclaration, .clientCharacteristicConfiguration,
                .extendedProperties:
                nil
            }
        }
    }

    private func serviceObject(_ service: Int, _ handle: AttributeHandle) -> ExportedObject {
        let interface = ExportedInterface(BlueZ.service, callers: BlueZ.name) { [properties] in
            properties.ofService(service, at: handle)
        }
        return ExportedObject(paths.service(service), [interface])
    }

    private func characteristicObject(
        _ service: Int,
        _ characteristic: Int,
        _ handle: AttributeHandle
    ) -> ExportedObject {
        let description = group.table.services[service].characteristics[characteristic]
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
        return ExportedObject(paths.characteristic(characteristic, of: service), [interface])
    }

    private func descriptorObject(
        _ service: Int,
        _ characteristic: Int,
        _ descriptor: Int,
        _ handle: AttributeHandle
    ) -> ExportedObject {
        let parent = group.table.services[service].characteristics[characteristic]
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
            paths.descriptor(descriptor, of: characteristic, of: service),
            [interface]
        )
    }
}
