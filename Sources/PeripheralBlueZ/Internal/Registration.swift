internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Carries out what a ``RegistrationStateMachine`` decides, on one connection to the bus.
final class Registration: Sendable {
    private typealias Event = RegistrationStateMachine.Event
    private typealias Failure = RegistrationStateMachine.Failure

    private let application: Application
    private let host: any PeripheralHost
    private let selection: AdapterSelection
    private let events: AsyncStream<Event>
    private let report: AsyncStream<Event>.Continuation

    init(application: Application, host: any PeripheralHost, selection: AdapterSelection) {
        self.application = application
        self.host = host
        self.selection = selection
        // Few things happen in the life of a registration, and none of them may be missed.
        (events, report) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Asks for the end; ``run(on:)`` returns when all is withdrawn.
    func stop() {
        report.yield(.stopRequested)
    }

    /// Registers, serves until the end, and withdraws.
    ///
    /// - Returns: Why it ended, or `nil` when it was asked to.
    func run(on connection: BusConnection) async -> RegistrationStateMachine.Failure? {
        var machine = RegistrationStateMachine(selection: selection)
        do {
            try await prepare(connection)
        } catch {
            return Failure(error, step: .connecting)
        }
        var incoming = events.makeAsyncIterator()
        var action: RegistrationStateMachine.Action? = machine.start()
        while true {
            guard let current = action else {
                // The stream is never finished, and this task is never cancelled.
                guard let event = await incoming.next() else { return nil }
                action = machine.handle(event)
                continue
            }
            if case .finish(let failure) = current { return failure }
            action = await perform(current, on: connection).flatMap { machine.handle($0) }
        }
    }

    private func prepare(_ connection: BusConnection) async throws {
        let report = report
        await connection.onLoss {
            report.yield(.failed(.busLost))
        }
        try await application.export(on: connection) {
            report.yield(.advertisementReleased)
        }
    }

    /// Does what is due, and gives the event that comes of it.
    private func perform(
        _ action: RegistrationStateMachine.Action,
        on connection: BusConnection
    ) async -> RegistrationStateMachine.Event? {
        switch action {
        case .findAdapters:
            await outcome(.findingAdapters) {
                .foundAdapters(try await self.findAdapters(on: connection))
            }
        case .registerApplication(let adapter):
            await outcome(.registeringApplication) {
                try await self.watch(adapter, on: connection)
                try await self.call(
                    "RegisterApplication",
                    BlueZ.gattManager,
                    adapter,
                    Application.root,
                    connection
                )
                return .registeredApplication
            }
        case .registerAdvertisement(let adapter):
            await outcome(.registeringAdvertisement) {
                try await self.call(
                    "RegisterAdvertisement",
                    BlueZ.advertisingManager,
                    adapter,
                    Application.advertisement,
                    connection
                )
                return .registeredAdvertisement
            }
        case .reportPublished:
            await outcome(.connecting) {
                let paths = try self.application.characteristicPaths()
                // Not `self.stop`: the host keeps the link, and this object keeps the host.
                let link = BlueZLink(connection, paths: paths) { [report = self.report] in
                    report.yield(.stopRequested)
                }
                self.host.handle(.published(link))
                return nil
            }
        case .renewAdvertisement(let adapter):
            await outcome(.registeringAdvertisement) {
                // The adapter may take no advertisement now; then the next change of a connection tries again.
                try? await self.withdraw(
                    "UnregisterAdvertisement",
                    BlueZ.advertisingManager,
                    adapter,
                    Application.advertisement,
                    connection
                )
                try? await self.call(
                    "RegisterAdvertisement",
                    BlueZ.advertisingManager,
                    adapter,
                    Application.advertisement,
                    connection
                )
                return .renewedAdvertisement
            }
        case .withdrawAdvertisement(let adapter):
            await outcome(.withdrawing) {
                try await self.withdraw(
                    "UnregisterAdvertisement",
                    BlueZ.advertisingManager,
                    adapter,
                    Application.advertisement,
                    connection
                )
                return .withdrewAdvertisement
            }
        case .withdrawApplication(let adapter):
            await outcome(.withdrawing) {
                // New centrals no longer find the peripheral; those that are here get their answers.
                await self.host.untilAnswered()
                try await self.withdraw(
                    "UnregisterApplication",
                    BlueZ.gattManager,
                    adapter,
                    Application.root,
                    connection
                )
                return .withdrewApplication
            }
        case .finish:
            nil
        }
    }

    private func outcome(
        _ step: RegistrationStep,
        _ work: () async throws -> RegistrationStateMachine.Event?
    ) async -> RegistrationStateMachine.Event? {
        do {
            return try await work()
        } catch {
            return .failed(Failure(error, step: step))
        }
    }
}

// MARK: - Calls to bluetoothd

extension Registration {
    private func call(
        _ method: MemberName,
        _ manager: InterfaceName,
        _ adapter: String,
        _ object: ObjectPath,
        _ connection: BusConnection
    ) async throws(BusError) {
        let path = try ObjectPath(adapter)
        let arguments: [BusValue] = [.objectPath(object), .properties([])]
        _ = try await connection.call(BlueZ.name, path, manager, method, arguments)
    }

    private func withdraw(
        _ method: MemberName,
        _ manager: InterfaceName,
        _ adapter: String,
        _ object: ObjectPath,
        _ connection: BusConnection
    ) async throws(BusError) {
        let path = try ObjectPath(adapter)
        // A daemon that hangs must not hold up the end of the program: it forgets us with the connection anyway.
        _ = try await connection.call(
            BlueZ.name,
            path,
            manager,
            method,
            [.objectPath(object)],
            timeout: .seconds(2)
        )
    }

    private func findAdapters(on connection: BusConnection) async throws(BusError) -> [AdapterDescription] {
        let answer = try await connection.call(
            BlueZ.name,
            "/",
            BlueZ.objectManager,
            "GetManagedObjects",
            timeout: .seconds(10)
        )
        guard let objects = answer.first?.dictionary else {
            throw .signatureMismatch(expected: "a{oa{sa{sv}}}", found: answer.signature.text)
        }
        return objects.entries.compactMap { entry in
            guard let path = entry.key.objectPath, let adapter = entry.value[BlueZ.adapter.text] else {
                return nil
            }
            return AdapterDescription(
                path: path.text,
                isPowered: adapter["Powered"]?.bool ?? false,
                isUsable: entry.value[BlueZ.gattManager.text] != nil
                    && entry.value[BlueZ.advertisingManager.text] != nil,
                connectionsInterruptAdvertising: entry.value[BlueZ.advertisingManager.text]?[
                    "SupportedSecondaryChannels"
                ] != nil
            )
        }
    }

    /// Reports the end of bluetoothd and of the adapter, and the coming and going of centrals.
    private func watch(_ adapter: String, on connection: BusConnection) async throws(BusError) {
        let report = report
        _ = try await connection.watchName(BlueZ.name) { owner in
            if owner == nil { report.yield(.failed(.daemonLost)) }
        }
        let removals = MatchRule(
            sender: BlueZ.name,
            path: "/",
            interface: BlueZ.objectManager,
            member: "InterfacesRemoved"
        )
        _ = try await connection.subscribe(to: removals) { signal in
            var arguments = signal.arguments
            if let path = try? arguments.readBorrowedObjectPath(), path.equals(adapter) {
                report.yield(.failed(.adapterLost(adapter)))
            }
        }
        let deviceChanges = MatchRule(
            sender: BlueZ.name,
            pathNamespace: try ObjectPath(adapter),
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            firstArgument: BlueZ.device.text
        )
        _ = try await connection.subscribe(to: deviceChanges) { signal in
            var arguments = signal.arguments
            arguments.skip()
            try? arguments.readProperties { (key, _) throws(BusError) in
                if key == "Connected" { report.yield(.connectionChanged) }
            }
        }
        // A central that bluetoothd has not known before is connected when its object appears.
        let additions = MatchRule(
            sender: BlueZ.name,
            path: "/",
            interface: BlueZ.objectManager,
            member: "InterfacesAdded"
        )
        let adapterPath = try ObjectPath(adapter)
        _ = try await connection.subscribe(to: additions) { signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values.count == 2,
                values[0].objectPath?.isBelow(adapterPath) == true,
                values[1][BlueZ.device.text]?["Connected"]?.bool == true
            else { return }
            report.yield(.connectionChanged)
        }
    }
}
