internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// An application whose services are in the database.
struct RegisteredApplication: Sendable {
    let number: Int
    let id: ApplicationID
    /// The services in their order, with their handles in the application's own table.
    var services: [Service]
    let channels: ApplicationChannels
    /// The value handles, in the application's own table, by the paths of the characteristics.
    let characteristics: [ObjectPath: AttributeHandle]

    struct Service: Sendable {
        let uuid: BluetoothUUID
        let handles: ClosedRange<AttributeHandle>
        let path: ObjectPath?
    }
}

// MARK: - Registering

extension AdapterService {
    /// The time that bluetoothd waits for the objects of an application.
    static let objectsLimit: Duration = .seconds(25)

    func registerApplication(_ call: DaemonCall) {
        guard let client = call.client else { return }
        guard applications[client] == nil else { return _ = call.reply.fail(.alreadyExists) }
        let number = makeNumber()
        applications[client] = .pending(number)
        tasks.start { await self.finishRegistration(of: client, number, call) }
    }

    private func finishRegistration(of client: Client, _ number: Int, _ call: DaemonCall) async {
        let objects = try? await connection.call(
            client.owner,
            client.path,
            .objectManager,
            "GetManagedObjects",
            within: Self.objectsLimit,
            on: configuration.clock
        )
        guard applications[client]?.isPending(number) == true else {
            // The application was unregistered in the meantime, so bluetoothd never answers the call.
            unansweredCalls.append(call)
            return
        }
        do throws(MethodError) {
            let description = try ApplicationDescription(objects ?? [], version: configuration.version)
            let application = try add(description, of: client, number)
            applications[client] = .registered(application)
            reportHandles(of: description, application.id, to: client.owner)
            announceServices()
            call.reply.send()
        } catch {
            applications[client] = nil
            call.reply.fail(error)
        }
    }

    private func add(
        _ description: ApplicationDescription,
        of client: Client,
        _ number: Int
    ) throws(MethodError) -> RegisteredApplication {
        let remote = RemoteObjects(
            owner: client.owner,
            objects: description.objects,
            adapter: path,
            connection: connection,
            version: configuration.version,
            clock: configuration.clock
        )
        let channels = ApplicationChannels(remote, server: server, tasks: tasks, crash: crash)
        let provider = RemoteApplication(remote: remote, channels: channels)
        let id: ApplicationID
        do {
            id = try server.add(
                description.table,
                servedBy: provider,
                authorizing: description.authorizing,
                asBluetoothd: true
            )
        } catch {
            addThoseBefore(error.service ?? 0, of: description, servedBy: provider, for: client.owner)
            throw .notCreated
        }
        channels.assumeIsolated { $0.begin(id) }
        return RegisteredApplication(
            number: number,
            id: id,
            services: description.services,
            channels: channels,
            characteristics: description.characteristics
        )
    }

    /// Adds the services that precede a service that does not fit.
    ///
    /// bluetoothd adds one service after another. If a service does not fit, bluetoothd removes all services
    /// as soon as it is idle.
    private func addThoseBefore(
        _ refused: Int,
        of description: ApplicationDescription,
        servedBy provider: RemoteApplication,
        for owner: BusName
    ) {
        guard refused > 0,
            let table = try? AttributeTable(services: Array(description.table.services[..<refused])),
            let id = try? server.add(table, servedBy: provider, asBluetoothd: true)
        else { return }
        reportHandles(of: description, id, to: owner)
        if !configuration.isBusy { server.removeAtOnce(id) }
    }

    /// Reports the handles on the air to the objects that request their handles.
    private func reportHandles(
        of description: ApplicationDescription,
        _ id: ApplicationID,
        to owner: BusName
    ) {
        let handles = server.handles(of: id)
        for (local, object) in description.objects.sorted(by: { $0.key < $1.key }) where object.wantsHandle {
            guard let handle = handles[local]?.rawValue else { continue }
            let arguments: [BusValue] = [
                .string(object.interface.text), .string("Handle"), .variant(.uint16(handle)),
            ]
            callIgnoringAnswer(owner, object.path, .properties, "Set", arguments)
        }
    }

    /// bluetoothd announces the services twice, for the record and for the service.
    private func announceServices() {
        emitChanged(BlueZName.adapter, [("UUIDs", serviceUUIDs)])
        emitChanged(BlueZName.adapter, [("UUIDs", serviceUUIDs)])
    }
}

// MARK: - Removing services

extension AdapterService {
    /// Removes a service whose object the program has removed.
    ///
    /// bluetoothd ignores the removal of characteristics and descriptors (`proxy_removed_cb` in
    /// gatt-database.c). An application without services stays registered.
    func objectRemoved(_ object: RemovedObject) {
        guard var application = applications[object.client]?.content,
            let index = application.services.firstIndex(where: { $0.path == object.path })
        else { return }
        let handles = application.services.remove(at: index).handles
        applications[object.client] = .registered(application)
        server.removeServiceAtOnce(at: handles.lowerBound, of: application.id)
        application.channels.assumeIsolated { $0.removeService(at: handles) }
        announceServices()
    }
}

// MARK: - Unregistering

extension AdapterService {
    func unregisterApplication(_ call: DaemonCall) {
        guard let client = call.client, let registration = applications.removeValue(forKey: client) else {
            return _ = call.reply.fail(.doesNotExist)
        }
        // When the program receives the answer, its services are already off the air.
        if let application = registration.content { server.removeAtOnce(application.id) }
        call.reply.send()
        remove(registration)
    }

    /// Removes the applications of a program that has left the bus.
    func removeApplications(of owner: BusName) {
        for client in applications.keys where client.owner == owner {
            if let registration = applications.removeValue(forKey: client) { remove(registration) }
        }
    }

    private func remove(_ registration: Registration<RegisteredApplication>) {
        guard let application = registration.content else { return }
        // bluetoothd uses freed memory after it has confused a service with that of another program.
        if server.hasLostServices(application.id) { return crash() }
        server.removeAtOnce(application.id)
        application.channels.assumeIsolated { $0.withdraw() }
        announceServices()
    }
}

// MARK: - Updates

extension AdapterService {
    /// Sends a new value of a characteristic to its subscribers.
    func updateCharacteristic(_ changes: PropertyChanges) {
        for (client, registration) in applications where client.owner == changes.client.owner {
            guard let application = registration.content,
                let handle = application.characteristics[changes.client.path]
            else { continue }
            application.channels.assumeIsolated { channels in
                for (name, value) in changes.changed where name == "Value" {
                    if let bytes = value.rawBytes { channels.update(handle, bytes) }
                }
                if changes.invalidated.contains("Value") { channels.update(handle, []) }
            }
        }
    }
}

// MARK: - Sockets

extension AdapterService {
    /// The channels of the registered applications.
    private var channels: [ApplicationChannels] { applications.values.compactMap { $0.content?.channels } }

    /// Closes the sockets that belong to a central.
    func closeChannels(of central: DeviceAddress) {
        for channels in channels { channels.assumeIsolated { $0.disconnected(central) } }
    }

    /// Closes all sockets.
    func closeChannels() {
        for channels in channels { channels.assumeIsolated { $0.end() } }
    }
}

// MARK: - Advertisements

/// An advertisement that bluetoothd has accepted.
struct RegisteredAdvertisement: Sendable {
    let number: Int
    var description: AdvertisementDescription
    /// The identifier of the advertisement on the air, if it is on the air.
    var air: AdvertisementID?
}

// MARK: - Registering

extension AdapterService {
    /// The number of advertisements that the controller supports.
    private static let capacity: UInt8 = 5

    var activeInstances: UInt8 { UInt8(clamping: advertisements.values.count { $0.content != nil }) }
    var supportedInstances: UInt8 { Self.capacity - min(activeInstances, Self.capacity) }

    func registerAdvertisement(_ call: DaemonCall) {
        guard let client = call.client else { return }
        guard advertisements[client] == nil else { return _ = call.reply.fail(.alreadyExists) }
        guard advertisements.count < Self.capacity else {
            let error = MethodError("org.bluez.Error.NotPermitted", "Maximum advertisements reached")
            return _ = call.reply.fail(error)
        }
        let number = makeNumber()
        advertisements[client] = .pending(number)
        tasks.start { await self.finishAdvertisement(of: client, number, call) }
    }

    private func finishAdvertisement(of client: Client, _ number: Int, _ call: DaemonCall) async {
        // bluetoothd requests an object manager, which an advertisement does not need.
        _ = try? await ask(client, .objectManager, "GetManagedObjects")
        let properties = try? await ask(
            client,
            .properties,
            "GetAll",
            [.string(BlueZName.advertisement.text)]
        )
        guard advertisements[client]?.isPending(number) == true else {
            unansweredCalls.append(call)
            return
        }
        do throws(MethodError) {
            guard
                let description = AdvertisementDescription(
                    properties ?? [],
                    isExtended: isExtended,
                    version: configuration.version
                )
            else {
                throw .bluez(failed: "Failed to parse advertisement.")
            }
            guard isPowered else { throw .notAdvertised }
            reportTransmissionPower(to: client)
            guard let air = encode(description) else { throw .notAdvertised }
            let id = server.advertise(air)
            advertisements[client] = .registered(
                RegisteredAdvertisement(number: number, description: description, air: id)
            )
            call.reply.send()
            announceInstances()
            wait(description.timeout) { await $0.release(client, number) }
            wait(description.discoverableTimeout) { await $0.hide(client, number) }
        } catch {
            advertisements[client] = nil
            call.reply.fail(error)
        }
    }

    private func ask(
        _ client: Client,
        _ interface: InterfaceName,
        _ method: MemberName,
        _ arguments: [BusValue] = []
    ) async throws(BusError) -> [BusValue] {
        try await connection.call(
            client.owner,
            client.path,
            interface,
            method,
            arguments,
            within: Self.objectsLimit,
            on: configuration.clock
        )
    }

    private func encode(_ description: AdvertisementDescription) -> VirtualAdvertisement? {
        description.encoded(deviceName: alias)
    }

    /// With extended advertising, the controller selects the power and bluetoothd reports it.
    private func reportTransmissionPower(to client: Client) {
        guard isExtended else { return }
        let arguments: [BusValue] = [
            .string(BlueZName.advertisement.text), .string("TxPower"), .variant(.int16(0)),
        ]
        callIgnoringAnswer(client.owner, client.path, .properties, "Set", arguments)
    }

    private func announceInstances() {
        emitChanged(
            BlueZName.advertisingManager,
            [("SupportedInstances", .byte(supportedInstances)), ("ActiveInstances", .byte(activeInstances))]
        )
    }
}

// MARK: - Changing

extension AdapterService {
    /// Applies changed properties to a registered advertisement.
    func updateAdvertisement(_ changes: PropertyChanges) {
        guard var advertisement = advertisements[changes.client]?.content else { return }
        var isChanged = false
        for (name, value) in changes.changed where AdvertisementDescription.takesChanges(of: name) {
            if advertisement.description.set(name, to: value) { isChanged = true }
        }
        guard isChanged else { return }
        advertisements[changes.client] = .registered(advertisement)
        reportTransmissionPower(to: changes.client)
        if let id = advertisement.air, let air = encode(advertisement.description) {
            server.update(id, to: air)
        }
    }
}

// MARK: - Unregistering

extension AdapterService {
    func unregisterAdvertisement(_ call: DaemonCall) {
        guard let client = call.client, advertisements[client] != nil else {
            return _ = call.reply.fail(.doesNotExist)
        }
        removeAdvertisement(client)
        call.reply.send()
    }

    /// Removes the advertisements of a program that has left the bus.
    func removeAdvertisements(of owner: BusName) {
        for client in advertisements.keys where client.owner == owner { removeAdvertisement(client) }
    }

    private func removeAdvertisement(_ client: Client) {
        guard let registration = advertisements.removeValue(forKey: client) else { return }
        if let id = registration.content?.air { server.withdraw(id) }
        if registration.content != nil { announceInstances() }
    }

    /// Runs an action after a number of seconds; 0 means never.
    private func wait(_ seconds: UInt16, _ action: @escaping @Sendable (AdapterService) async -> Void) {
        guard seconds > 0 else { return }
        tasks.start { [clock = configuration.clock] in
            do {
                try await clock.sleep(for: .seconds(seconds))
            } catch {
                return
            }
            await action(self)
        }
    }

    /// Ends the discoverable time of an advertisement.
    private func hide(_ client: Client, _ number: Int) {
        guard var advertisement = advertisements[client]?.content, advertisement.number == number else {
            return
        }
        advertisement.description.data.flags = nil
        advertisements[client] = .registered(advertisement)
        reportTransmissionPower(to: client)
        if let id = advertisement.air, let air = encode(advertisement.description) {
            server.update(id, to: air)
        }
    }

    private func release(_ client: Client, _ number: Int) {
        guard advertisements[client]?.content?.number == number else { return }
        sendRelease(to: client)
        removeAdvertisement(client)
    }

    /// Informs the programs that their advertisements were removed with the adapter.
    func releaseAdvertisements() {
        let registered = advertisements.filter { $0.value.content != nil }
        for client in registered.keys.sorted(by: { $0.path.text < $1.path.text }) { sendRelease(to: client) }
        advertisements = [:]
    }

    private func sendRelease(to client: Client) {
        connection.assumeIsolated { connection in
            // A program that has ended needs no message.
            try? connection.callWithoutReply(client.owner, client.path, BlueZName.advertisement, "Release")
        }
    }
}

// MARK: - Power

extension AdapterService {
    func takeAllOffAir() {
        for (client, registration) in advertisements {
            guard var advertisement = registration.content, let id = advertisement.air else { continue }
            server.withdraw(id)
            advertisement.air = nil
            advertisements[client] = .registered(advertisement)
        }
    }

    func airAll() {
        for (client, registration) in advertisements {
            guard var advertisement = registration.content, let air = encode(advertisement.description) else {
                continue
            }
            advertisement.air = server.advertise(air)
            advertisements[client] = .registered(advertisement)
        }
    }
}

extension MethodError {
    fileprivate static let notAdvertised = MethodError.bluez(failed: "Failed to register advertisement")
}
