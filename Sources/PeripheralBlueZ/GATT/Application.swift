internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The objects on the bus: the database below one root, and the pairing agent.
struct Application: Sendable {
    /// Fixed paths suffice because each run uses a separate bus connection.
    static let root: ObjectPath = "/peripheral"

    let publication: BackendPublication
    let centrals: Centrals
    let refusals: RequestRefusals
    let requests: AttributeRequests
    let agent: PairingAgent
    private let handles: AssignedHandles

    init(
        _ publication: BackendPublication,
        host: any PeripheralHost,
        handles: AssignedHandles,
        on connection: BusConnection,
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        log: RunLog
    ) throws(BusError) {
        self.publication = publication
        self.handles = handles
        let characteristics = try Self.characteristics(of: publication.table)
        centrals = Centrals(
            on: connection,
            characteristics: characteristics,
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
        for object in try databaseObjects() {
            try await connection.export(object)
        }
        // The object manager is exported last and therefore does not announce each object on the bus.
        // bluetoothd reads all objects.
        try await connection.exportObjectManager(at: Self.root)
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

    /// Returns the characteristics by their value handles.
    private static func characteristics(
        of table: AttributeTable
    ) throws(BusError) -> [AttributeHandle: Centrals.Characteristic] {
        var characteristics: [AttributeHandle: Centrals.Characteristic] = [:]
        for attribute in table.attributes {
            guard case .characteristicValue(let service, let characteristic) = attribute.kind else {
                continue
            }
            let description = table.services[service].characteristics[characteristic]
            characteristics[attribute.handle] = Centrals.Characteristic(
                uuid: description.uuid,
                path: try path(service: service, characteristic: characteristic),
                isIndicated: description.properties.contains(.indicate),
                security: description.security.notify
            )
        }
        return characteristics
    }
}

// MARK: - Paths

extension Application {
    // The numbers have fixed widths, so tools that sort by name show the order of the declaration.

    private static func path(service: Int) throws(BusError) -> ObjectPath {
        try root.appending("service" + padded(service))
    }

    private static func path(service: Int, characteristic: Int) throws(BusError) -> ObjectPath {
        try path(service: service).appending("characteristic" + padded(characteristic))
    }

    private static func path(service: Int, characteristic: Int, descriptor: Int) throws(BusError)
        -> ObjectPath
    {
        try path(service: service, characteristic: characteristic).appending(
            "descriptor" + padded(descriptor)
        )
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

// MARK: - The database

extension Application {
    private func databaseObjects() throws(BusError) -> [ExportedObject] {
        var objects: [ExportedObject] = []
        let table = publication.table
        for attribute in handles.order.flatMap(table.attributes(ofService:)) {
            switch attribute.kind {
            case .serviceDeclaration(let service):
                objects.append(try serviceObject(service, attribute.handle))
            case .characteristicValue(let service, let characteristic):
                objects.append(try characteristicObject(service, characteristic, attribute.handle))
            case .descriptor(let service, let characteristic, let descriptor):
                objects.append(try descriptorObject(service, characteristic, descriptor, attribute.handle))
            case .include, .characteristicDeclaration, .clientCharacteristicConfiguration,
                .extendedProperties:
                break
            }
        }
        return objects
    }

    /// Returns the property that contains the handle on the air.
    ///
    /// bluetoothd writes this property when it has assigned a handle.
    ///
    /// - Parameters:
    ///   - handle: The attribute, in the table.
    ///   - pinned: The requested handle; `nil` lets bluetoothd choose.
    ///   - isAsked: Whether bluetoothd chooses the handle even if it follows from the handle of the service.
    /// - Returns: The property.
    private func handleProperty(
        of handle: AttributeHandle,
        pinned: AttributeHandle? = nil,
        isAsked: Bool = false
    ) -> ExportedProperty {
        ExportedProperty(
            "Handle",
            "q",
            get: { [centrals, handles] () throws(MethodError) in
                let reportsHandles = centrals.assumeIsolated { $0.abilities.reportsHandles }
                let pinned = pinned ?? (isAsked && reportsHandles ? nil : handles[handle])
                guard pinned != nil || reportsHandles else {
                    throw MethodError(
                        .unknownProperty,
                        "this version of bluetoothd refuses an attribute without a handle"
                    )
                }
                return .uint16(pinned?.rawValue ?? 0)
            },
            set: { [centrals] value in
                guard let onAir: UInt16 = value.integer() else { return }
                centrals.report(.handleAssigned(handle, onAir: AttributeHandle(rawValue: onAir)))
            }
        )
    }

    private func serviceObject(_ service: Int, _ handle: AttributeHandle) throws(BusError) -> ExportedObject {
        let description = publication.table.services[service]
        var properties = [
            ExportedProperty("UUID", .string(description.uuid.fullDescription)),
            ExportedProperty("Primary", .bool(description.isPrimary)),
            handleProperty(of: handle, pinned: description.handle),
        ]
        if !description.includedServices.isEmpty {
            var includes: [BusValue] = []
            for included in description.includedServices {
                includes.append(.objectPath(try Self.path(service: included)))
            }
            properties.append(ExportedProperty("Includes", .array(of: "o", includes)))
        }
        return ExportedObject(
            try Self.path(service: service),
            [ExportedInterface(BlueZ.service, callers: BlueZ.name, properties: properties)]
        )
    }

    private func characteristicObject(
        _ service: Int,
        _ characteristic: Int,
        _ handle: AttributeHandle
    ) throws(BusError) -> ExportedObject {
        let description = publication.table.services[service].characteristics[characteristic]
        // The handle follows from the handle of the service, but bluetoothd 5.74 and 5.75 do not find it.
        let isPinned = publication.table.services[service].handle != nil
        let security = description.security
        var methods = [
            // bluetoothd forwards requests even without the property, but does not check their security.
            requests.readMethod(
                of: handle,
                at: description.properties.contains(.read) ? security.read : .open
            ),
            requests.writeMethod(of: handle, at: description.properties.canWrite ? security.write : .open),
        ]
        var properties = [
            ExportedProperty("UUID", .string(description.uuid.fullDescription)),
            ExportedProperty("Service", .objectPath(try Self.path(service: service))),
            ExportedProperty("Flags", .strings(AttributeFlags.flags(of: description))),
            // bluetoothd's answer shows that the service has been placed.
            handleProperty(of: handle, pinned: isPinned ? handle : nil, isAsked: true),
        ]
        if description.properties.allowsSubscription {
            methods += requests.subscriptionMethods(of: handle)
            // If this property is present, bluetoothd calls AcquireNotify.
            properties.append(ExportedProperty("NotifyAcquired", .bool(false)))
        }
        return ExportedObject(
            try Self.path(service: service, characteristic: characteristic),
            [
                ExportedInterface(
                    BlueZ.characteristic,
                    callers: BlueZ.name,
                    methods: methods,
                    properties: properties
                )
            ]
        )
    }

    private func descriptorObject(
        _ service: Int,
        _ characteristic: Int,
        _ descriptor: Int,
        _ handle: AttributeHandle
    ) throws(BusError) -> ExportedObject {
        let parent = publication.table.services[service].characteristics[characteristic]
        let description = parent.descriptors[descriptor]
        let characteristicPath = try Self.path(service: service, characteristic: characteristic)
        return ExportedObject(
            try Self.path(service: service, characteristic: characteristic, descriptor: descriptor),
            [
                ExportedInterface(
                    BlueZ.descriptor,
                    callers: BlueZ.name,
                    methods: [
                        requests.readMethod(of: handle, at: description.security.read),
                        requests.writeMethod(of: handle, at: description.security.write),
                    ],
                    properties: [
                        ExportedProperty("UUID", .string(description.uuid.fullDescription)),
                        ExportedProperty("Characteristic", .objectPath(characteristicPath)),
                        ExportedProperty("Flags", .strings(AttributeFlags.flags(of: description))),
                        handleProperty(of: handle),
                    ]
                )
            ]
        )
    }
}
