internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

extension BusSession {
    /// The number of further requests for the same free handles after a refusal.
    private static let repetitions = 2

    /// Performs a step of a registration.
    ///
    /// - Returns: The outcome; `nil` if there is none.
    func perform(
        _ action: RegistrationStateMachine.Action,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws -> RegistrationStateMachine.Event? {
        let managers = try AdapterManagers(of: adapter, on: connection)
        switch action {
        case .registerAgent:
            try await watchCentrals(of: adapter)
            try await agent.register(on: ObjectPath(adapter))
            return .registeredAgent
        case .registerApplication:
            try await registerApplication(by: managers, on: adapter, for: supervisor)
            return .registeredApplication
        case .registerAdvertisements(let values):
            let capabilities = try await capabilities(by: managers)
            supervisor.setCapabilities(capabilities)
            return .advertised(
                refused: try await advertisements.register(
                    values,
                    for: capabilities,
                    by: managers,
                    supervisor.clock
                )
            )
        case .changeAdvertisements(let values):
            let capabilities = try await capabilities(by: managers)
            return .advertised(
                refused: try await advertisements.change(
                    values,
                    for: capabilities,
                    by: managers,
                    supervisor.clock
                )
            )
        case .reportPublication:
            // Not before: each refused advertisement would use up a page.
            try await reservation.keep(
                supervisor.handles.planned,
                in: await daemon(managers, adapter: adapter, supervisor.clock)
            )
            supervisor.prepareReport(
                by: BlueZLink(
                    devices: Devices(connection: connection, adapter: try ObjectPath(adapter)),
                    centrals: application.centrals,
                    advertise: supervisor.demand,
                    stop: supervisor.requestStop
                ),
                completionReporting: await application.centrals.completionReporting,
                adapter: supervisor.address(of: adapter)
            )
            return .reportedPublication
        case .awaitRenewal(let delay, let failure):
            supervisor.report(
                failure,
                "An advertisement is off the air. The backend repeats the registration until bluetoothd accepts it."
            )
            try await supervisor.clock.sleep(for: delay)
            return .renewalIsDue
        case .withdrawAdvertisements(let numbers):
            try await advertisements.withdraw(numbers, by: managers)
            return .withdrewAdvertisements
        case .withdrawApplication:
            // New centrals no longer find the peripheral. Connected centrals still receive their responses,
            // but there is no time to finish pairing.
            await application.agent.close()
            await supervisor.host.untilAnswered()
            await application.centrals.untilConfirmed(within: .seconds(1), by: supervisor.clock)
            try await managers.withdrawApplication(at: Application.root)
            try await reservation.release(in: await daemon(managers, adapter: adapter, supervisor.clock))
            return .withdrewApplication
        case .withdrawAgent:
            try await agent.withdraw(from: ObjectPath(adapter))
            return .withdrewAgent
        case .finish:
            return nil
        }
    }

    /// Returns the capabilities of the adapter.
    ///
    /// The function calls bluetoothd once in a session.
    private func capabilities(by managers: AdapterManagers) async throws -> AdvertisingCapabilities {
        try await advertisements.capabilities(
            by: managers,
            version: await application.centrals.abilities.version
        )
    }

    /// Registers the database at its former handles, and moves services whose former handles are not free.
    ///
    /// The function requests a handle only if no other program uses this handle. If another program used the
    /// handle, bluetoothd could mistake that program's services for those of this program, and remove them.
    private func registerApplication(
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws {
        let handles = supervisor.handles
        let daemon = await daemon(managers, adapter: adapter, supervisor.clock)
        handles.begin()
        var (refusals, hasMoved) = (0, false)
        do {
            while true {
                let others = try await reservation.reserve(
                    handles.demanded,
                    returns: handles.returns && !hasMoved,
                    in: daemon
                )
                var refusal: BusError?
                hasMoved = hasMoved || !others.isEmpty
                if others.isEmpty {
                    do throws(BusError) {
                        try await managers.registerApplication(at: Application.root)
                        guard handles.isAmongClaims else { break }
                        // bluetoothd needs seconds to remove 2,000 characteristics on a slow processor.
                        try await managers.withdrawApplication(at: Application.root, timeout: .seconds(25))
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
                    // Tries again at the same handles. First checks whether a service uses these handles,
                    // such as the service that was just refused. Without this check, bluetoothd would mistake
                    // that service for the new service, and remove the new service as well.
                    if refusals <= Self.repetitions {
                        handles.forgetGiven()
                        await reservation.forgetChecks()
                        continue
                    }
                    guard handles.yield(reportsHandles: daemon.reportsHandles) else { throw refusal }
                } else if let service = handles.pinnedService(in: others) {
                    throw RegistrationStateMachine.Failure.handlesTaken(of: service, in: others)
                } else {
                    _ = handles.yield(others)
                }
            }
        } catch {
            // The claims end with the connection, which ends after this error.
            handles.fail()
            throw error
        }
        supervisor.keep(await reservation.record)
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
            reportsHandles: await application.centrals.abilities.reportsHandles,
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

    /// Applies the required settings to the adapter.
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

extension BusSession {
    /// Finds the issues of the declaration on the running version of bluetoothd.
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
    /// The step that a failure of this action names.
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
