internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

extension Presence {
    /// How often the same handles are requested once more after a refusal, where nothing stands.
    private static let repetitions = 2

    /// Carries out a step of a registration.
    ///
    /// - Returns: What comes of it; `nil` for nothing.
    func perform(
        _ action: RegistrationStateMachine.Action,
        on adapter: String,
        for life: Life
    ) async throws -> RegistrationStateMachine.Event? {
        let managers = try AdapterManagers(of: adapter, on: connection)
        switch action {
        case .registerAgent:
            try await watchCentrals(of: adapter)
            try await agent.register(on: ObjectPath(adapter))
            return .registeredAgent
        case .registerApplication:
            try await registerApplication(by: managers, on: adapter, for: life)
            return .registeredApplication
        case .registerAdvertisements(let values):
            let capabilities = try await capabilities(by: managers)
            life.setCapabilities(capabilities)
            return .advertised(
                refused: try await advertisements.register(
                    values,
                    for: capabilities,
                    by: managers,
                    life.clock
                )
            )
        case .changeAdvertisements(let values):
            let capabilities = try await capabilities(by: managers)
            return .advertised(
                refused: try await advertisements.change(values, for: capabilities, by: managers, life.clock)
            )
        case .reportPublication:
            life.reportPublication(
                by: BlueZLink(
                    devices: Devices(connection: connection, adapter: try ObjectPath(adapter)),
                    centrals: application.centrals,
                    advertise: life.demand,
                    stop: life.requestStop
                ),
                pacing: await application.centrals.pacing,
                adapter: life.address(of: adapter)
            )
            return .reportedPublication
        case .awaitRenewal(let delay, let failure):
            life.tell(
                failure,
                "An advertisement is off the air and could not be registered; it is tried again until it can."
            )
            try await life.clock.sleep(for: delay)
            return .renewalIsDue
        case .withdrawAdvertisements(let numbers):
            try await advertisements.withdraw(numbers, by: managers)
            return .withdrewAdvertisements
        case .withdrawApplication:
            // New centrals no longer find the peripheral; those that are here get their answers, but nobody
            // has the time to finish pairing.
            await application.agent.close()
            await life.host.untilAnswered()
            await application.centrals.untilConfirmed(within: .seconds(1), by: life.clock)
            try await managers.withdrawApplication(at: Application.root)
            try await reservation.release(in: await daemon(managers, adapter: adapter, life.clock))
            return .withdrewApplication
        case .withdrawAgent:
            try await agent.withdraw(from: ObjectPath(adapter))
            return .withdrewAgent
        case .finish:
            return nil
        }
    }

    /// What the adapter can do; bluetoothd is asked once in a presence.
    private func capabilities(by managers: AdapterManagers) async throws -> AdvertisingCapabilities {
        try await advertisements.capabilities(
            by: managers,
            version: await application.centrals.abilities.version
        )
    }

    /// Registers the database where it was before, and what finds no room there elsewhere.
    ///
    /// No handle is requested before it is certain that nobody else has it: bluetoothd may take the services
    /// of another program for ours, and remove them.
    private func registerApplication(
        by managers: AdapterManagers,
        on adapter: String,
        for life: Life
    ) async throws {
        let handles = life.handles
        let daemon = await daemon(managers, adapter: adapter, life.clock)
        handles.begin()
        var refusals = 0
        do {
            while true {
                let others = try await reservation.reserve(handles.demanded, in: daemon)
                var refusal: BusError?
                if others.isEmpty {
                    do throws(BusError) {
                        try await managers.registerApplication(at: Application.root)
                        guard handles.isAmongClaims else { break }
                        try await managers.withdrawApplication(at: Application.root)
                        handles.forgetGiven()
                        try await reservation.passClaims(in: daemon)
                        continue
                    } catch {
                        guard error.isConflict else { throw error }
                        refusal = error
                    }
                }
                if let refusal {
                    refusals += 1
                    // Once more at the same handles. Whether anything stands there, such as what was just
                    // refused, is looked for first: bluetoothd would take it for the same services, and
                    // remove them with it.
                    if refusals <= Self.repetitions {
                        handles.forgetGiven()
                        await reservation.forgetChecks()
                        continue
                    }
                    guard handles.yield(tellsHandles: daemon.tellsHandles) else { throw refusal }
                } else if let service = handles.pinnedService(in: others) {
                    throw RegistrationStateMachine.Failure.handlesTaken(of: service, in: others)
                } else {
                    _ = handles.yield(others)
                }
            }
            try await reservation.keep(handles.planned, in: daemon)
        } catch {
            // What is claimed is given up with the connection, which ends now.
            handles.fail()
            throw error
        }
        life.keep(await reservation.record)
        application.reportHandles()
    }

    private func daemon(
        _ managers: AdapterManagers,
        adapter: String,
        _ clock: any Clock<Duration>
    ) async -> HandleReservation.Daemon {
        let name = adapter.split(separator: "/").last.map(String.init) ?? ""
        var database: String?
        if let bus = await connection.serverID, let owner = await connection.owner(of: BlueZ.name),
            let instance = AdapterInstance(name)
        {
            database = "\(bus)/\(owner)/\(instance)"
        }
        return HandleReservation.Daemon(
            connection: connection,
            managers: managers,
            database: database,
            tellsHandles: await application.centrals.abilities.tellsHandles,
            clock: clock
        )
    }

    private func watchCentrals(of adapter: String) async throws {
        let centrals = application.centrals
        let report = watcher.report
        await centrals.onConnectionChange { report(.registration(.connectionsChanged($0))) }
        try await DeviceWatcher(connection: connection, adapter: try ObjectPath(adapter), centrals: centrals)
            .watch()
    }

    /// Gives the adapter what is demanded of it.
    func prepare(_ adapter: AdapterDescription, _ settings: AdapterSettings) async throws {
        let path = try ObjectPath(adapter.path)
        if settings.powersOn, !adapter.isPowered { try await powerOn(path) }
        if let alias = settings.alias, alias != adapter.alias {
            try await set("Alias", .string(alias), of: path)
        }
        if let isPairable = settings.isPairable { try await set("Pairable", .bool(isPairable), of: path) }
    }

    private func powerOn(_ adapter: ObjectPath) async throws(RegistrationStateMachine.Failure) {
        do throws(BusError) {
            try await set("Powered", .bool(true), of: adapter)
        } catch {
            throw RegistrationStateMachine.Failure(error, step: .poweringOn)
        }
    }

    private func set(_ property: String, _ value: BusValue, of adapter: ObjectPath) async throws(BusError) {
        _ = try await connection.call(
            BlueZ.name,
            adapter,
            .properties,
            "Set",
            [.string(BlueZ.adapter.text), .string(property), .variant(value)],
            timeout: .seconds(10)
        )
    }
}

extension Presence {
    /// Finds out what the running daemon will make of the declaration.
    ///
    /// - Returns: The warnings.
    /// - Throws: `RegistrationStateMachine.Failure` with the errors.
    func prepare(for version: BlueZVersion) async throws -> [DeclarationIssue] {
        await application.centrals.setAbilities(Centrals.Abilities(of: version))
        application.refusals.setVersion(version)
        let issues = BlueZRules(version).examine(application.publication)
        let errors = issues.filter { $0.severity == .error }
        guard errors.isEmpty else {
            throw RegistrationStateMachine.Failure(errors)
        }
        return issues
    }
}

extension RegistrationStateMachine.Action {
    /// What fails when it fails.
    var step: RegistrationStep {
        switch self {
        case .registerAgent: .registeringAgent
        case .registerApplication: .registeringApplication
        case .registerAdvertisements, .changeAdvertisements, .awaitRenewal: .registeringAdvertisement
        case .reportPublication: .connecting
        case .withdrawAdvertisements, .withdrawApplication, .withdrawAgent, .finish: .withdrawing
        }
    }
}
