internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// An application whose services are in the database.
struct RegisteredApplication: Sendable {
    let number: Int
    let id: ApplicationID
    let services: [BluetoothUUID]
    let channels: ApplicationChannels
    /// The value handles, in the application's own table, by the paths of the characteristics.
    let characteristics: [ObjectPath: AttributeHandle]
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
            tellHandles(of: description, application.id, to: client.owner)
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
            services: description.table.services.map(\.uuid),
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
        tellHandles(of: description, id, to: owner)
        if !configuration.isBusy { server.removeAtOnce(id) }
    }

    /// Reports the handles on the air to the objects that request their handles.
    private func tellHandles(
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
