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
        case .registerServices(let groups):
            let isFirst = applications.beginsFirst()
            for group in groups.keys.inOrder().compactMap({ supervisor.services[$0] })
            // The program may have removed all services of the group meanwhile.
            where !group.handles.order.isEmpty {
                do {
                    try await register(group, by: managers, on: adapter, for: supervisor)
                } catch let error where isFirst && group.number > 0 {
                    let failure =
                        (error as? RegistrationStateMachine.Failure)
                        ?? RegistrationStateMachine.Failure(error, step: .registeringApplication)
                    guard failure.leavesDaemon, failure.code == .rejected else { throw error }
                    supervisor.report(
                        failure,
                        "Added services are off the air. The backend registers them again after the next loss."
                    )
                }
            }
            try await reservation.reserveRoom(
                for: supervisor.publication.reservedHandles,
                besides: applications.all.flatMap(\.group.handles.occupied),
                in: await daemon(managers, adapter: adapter, supervisor.clock)
            )
            return .registeredServices
        case .withdrawServices(let services):
            for (number, starts) in services.sorted(by: { $0.key < $1.key }) {
                guard let application = applications[number] else { continue }
                try await withdraw(starts, of: application, by: managers, on: adapter, for: supervisor)
            }
            return .withdrewServices
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
                applications.all.flatMap(\.group.handles.planned),
                in: await daemon(managers, adapter: adapter, supervisor.clock)
            )
            supervisor.prepareReport(
                by: BlueZLink(
                    devices: Devices(connection: connection, adapter: try ObjectPath(adapter)),
                    centrals: centrals,
                    advertise: supervisor.demand,
                    changeServices: supervisor.changeServices,
                    stop: supervisor.requestStop
                ),
                completionReporting: await centrals.completionReporting,
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
        case .withdrawApplications:
            // New centrals no longer find the peripheral. Connected centrals still receive their responses,
            // but there is no time to finish pairing.
            await pairing.close()
            await supervisor.host.untilAnswered()
            await centrals.untilConfirmed(within: .seconds(1), by: supervisor.clock)
            for application in applications.all {
                try await managers.withdrawApplication(at: application.root)
            }
            try await reservation.release(in: await daemon(managers, adapter: adapter, supervisor.clock))
            return .withdrewApplications
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
            version: await centrals.abilities.version
        )
    }

    /// Registers services at their former handles, and moves services whose former handles are not free.
    ///
    /// The function requests a handle only if no other program uses this handle. If another program used the
    /// handle, bluetoothd could mistake that program's services for those of this program, and remove them.
    private func register(
        _ group: ServiceGroup,
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws {
        let handles = group.handles
        let daemon = await daemon(managers, adapter: adapter, supervisor.clock)
        let application = Application(
            of: group,
            host: supervisor.host,
            centrals: centrals,
            version: await centrals.abilities.version,
            log: supervisor.log
        )
        // The claims of the other applications stay.
        let others = applications.all.flatMap(\.group.handles.planned)
        try await application.export(on: connection)
        handles.begin(
            besides: supervisor.services.occupied(besides: group),
            avoiding: group.services.areAdded ? await reservation.foreign : []
        )
        do {
            try await register(application, besides: others, in: daemon)
        } catch {
            handles.fail()
            // After a lost connection, there is nothing to withdraw.
            await application.withdraw(from: connection)
            await centrals.remove(application.characteristicHandles)
            throw error
        }
        if group.services.areAdded { await reservation.keepRoom(for: handles.demanded) }
        applications[group.number] = application
        supervisor.keep(await reservation.record)
        application.reportHandles()
    }

    private func register(
        _ application: Application,
        besides others: [ClosedRange<AttributeHandle>],
        in daemon: HandleReservation.Daemon
    ) async throws {
        let handles = application.group.handles
        var (refusals, hasMoved) = (0, false)
        while true {
            let taken = try await reservation.reserve(
                handles.demanded,
                besides: others,
                returns: handles.returns && !hasMoved,
                in: daemon
            )
            var refusal: BusError?
            hasMoved = hasMoved || !taken.isEmpty
            if taken.isEmpty {
                do throws(BusError) {
                    try await daemon.managers.registerApplication(at: application.root)
                    guard handles.isAmongClaims else { return }
                    // bluetoothd needs seconds to remove 2,000 characteristics on a slow processor.
                    try await daemon.managers.withdrawApplication(
                        at: application.root,
                        timeout: .seconds(25)
                    )
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
                // Tries again at the same handles. First checks whether a service uses these handles, such as
                // the service that was just refused. Without this check, bluetoothd would mistake that
                // service for the new service, and remove the new service as well.
                if refusals <= Self.repetitions {
                    handles.forgetGiven()
                    await reservation.forgetChecks()
                    continue
                }
                guard handles.yield(reportsHandles: daemon.reportsHandles) else { throw refusal }
            } else if let service = handles.pinnedService(in: taken) {
                throw RegistrationStateMachine.Failure.handlesTaken(of: service, in: taken)
            } else if !handles.yield(taken), application.group.services.areAdded {
                throw RegistrationStateMachine.Failure.noHandles
            }
        }
    }

    /// Withdraws services of an application, and the application with its last service.
    private func withdraw(
        _ starts: Set<AttributeHandle>,
        of application: Application,
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws {
        let group = application.group
        let services = starts.compactMap(group.index)
        let characteristics = services.flatMap { application.characteristicHandles(ofService: $0) }
        await centrals.endUnsentUpdates(of: characteristics)
        let late = await centrals.untilConfirmed(
            of: Set(characteristics),
            within: BackendServices.confirmationLimit,
            by: supervisor.clock
        )
        let devices = Devices(connection: connection, adapter: try ObjectPath(adapter))
        for central in late { try? await devices.disconnect(central) }
        if group.handles.order.isEmpty {
            try await managers.withdrawApplication(at: application.root, timeout: .seconds(25))
            await application.withdraw(from: connection)
            applications[group.number] = nil
        } else {
            // The services that include others precede them.
            for service in services.inOrder(by: >) { await application.withdraw(service, from: connection) }
            await devices.untilAnswered()
        }
        await centrals.remove(characteristics)
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
            reportsHandles: await centrals.abilities.reportsHandles,
            clock: clock
        )
    }

    private func watchCentrals(of adapter: String) async throws {
        let centrals = centrals
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
    func prepare(
        _ publication: BackendPublication,
        for version: BlueZVersion
    ) async throws -> [DeclarationIssue] {
        await centrals.setAbilities(Centrals.Abilities(of: version))
        let issues = BlueZRules(version).examine(publication)
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
        case .registerServices: .registeringApplication
        case .registerAdvertisements, .changeAdvertisements, .awaitRenewal: .registeringAdvertisement
        case .reportPublication: .connecting
        case .withdrawServices, .withdrawAdvertisements, .withdrawApplications, .withdrawAgent, .finish:
            .withdrawing
        }
    }
}
