internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

extension BusSession {
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
            try await listen(on: adapter, for: supervisor)
            try await claimAlias(of: ObjectPath(adapter), by: managers, for: supervisor)
            try await agent.register(on: ObjectPath(adapter))
            return .registeredAgent
        case .registerServices(let groups):
            return .registeredServices(
                refused: try await register(groups, by: managers, on: adapter, for: supervisor)
            )
        case .withdrawServices(let services):
            try await withdraw(services, by: managers, on: adapter, for: supervisor)
            return .withdrewServices
        case .registerAdvertisements(let values):
            let capabilities = try await capabilities(by: managers)
            supervisor.setCapabilities(capabilities)
            try await renewAlias(of: ObjectPath(adapter), by: managers, for: supervisor)
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
            try await renewAlias(of: ObjectPath(adapter), by: managers, for: supervisor)
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
                    agent: agent,
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
            await centrals.stopListening()
            await supervisor.host.untilAnswered()
            await centrals.untilConfirmed(within: .seconds(1), by: supervisor.clock)
            for application in applications.all {
                try await managers.withdrawApplication(at: application.root)
            }
            try await reservation.release(in: await daemon(managers, adapter: adapter, supervisor.clock))
            return .withdrewApplications
        case .withdrawAgent:
            try await agent.withdraw(from: ObjectPath(adapter))
            try await releaseAlias(of: ObjectPath(adapter), by: managers, for: supervisor)
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

    /// Returns the access to bluetoothd that a reservation of handles needs.
    func daemon(
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

    /// Opens the listeners for L2CAP channels, with their numbers of before if possible.
    private func listen(on adapter: String, for supervisor: Supervisor) async throws {
        let listeners = supervisor.publication.listeners
        guard !listeners.isEmpty, let address = supervisor.address(of: adapter) else { return }
        let open = try await centrals.listen(
            listeners,
            preferring: supervisor.psms,
            on: try ObjectPath(adapter),
            at: address,
            for: supervisor.host
        )
        supervisor.keepPSMs(open.map(\.psm))
        for (index, listener) in open.enumerated() {
            if listener.mtu < listeners[index].mtu {
                supervisor.host.logger.warning(
                    """
                    The kernel has no room for a packet of the maximum length of an L2CAP listener. The listener \
                    receives shorter packets. To let it receive longer ones, set the sysctl net.core.rmem_max to \
                    18 times that length.
                    """,
                    metadata: [
                        "peripheral.psm": "\(listener.psm)",
                        "peripheral.declaredMTU": "\(listeners[index].mtu)",
                        "peripheral.mtu": "\(listener.mtu)",
                    ]
                )
            }
            supervisor.host.handle(.listening(index, psm: listener.psm))
        }
    }

    /// Applies the required settings to the adapter.
    func prepare(_ adapter: AdapterDescription, _ settings: AdapterSettings) async throws {
        let path = try ObjectPath(adapter.path)
        if settings.powersOn, !adapter.isPowered { try await powerOn(path) }
        if let alias = settings.alias.name, alias != adapter.alias {
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

    func set(_ property: String, _ value: BusValue, of adapter: ObjectPath) async throws(BusError) {
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
