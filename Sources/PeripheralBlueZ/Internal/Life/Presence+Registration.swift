internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

extension Presence {
    /// Carries out a step of a registration.
    ///
    /// - Returns: What comes of it; `nil` for nothing.
    func perform(
        _ action: RegistrationStateMachine.Action,
        for life: Life
    ) async throws -> RegistrationStateMachine.Event? {
        switch action {
        case .registerAgent(let adapter):
            try await watchCentrals(of: adapter)
            try await agent.register(on: ObjectPath(adapter))
            return .registeredAgent
        case .registerApplication(let adapter):
            try await registerApplication(on: adapter, handles: life.handles)
            return .registeredApplication
        case .registerAdvertisements(let adapter, let numbers):
            try await AdapterManagers(of: adapter, on: connection).register(
                numbers.sorted().map { application.advertisements[$0] },
                version: await application.centrals.abilities.version,
                clock: life.clock
            )
            return .registeredAdvertisements
        case .reportPublication(let adapter):
            life.reportPublication(
                by: BlueZLink(
                    devices: Devices(connection: connection, adapter: try ObjectPath(adapter)),
                    centrals: application.centrals,
                    stop: life.requestStop
                )
            )
            return .reportedPublication
        case .awaitRenewal(let delay, let failure):
            life.logger.warning(
                "The advertisement is off the air and could not be renewed; it will be tried again.",
                metadata: ["peripheral.reason": "\(failure.message)", "peripheral.delay": "\(delay)"]
            )
            try await life.clock.sleep(for: delay)
            return .renewalIsDue
        case .withdrawAdvertisements(let adapter):
            try await AdapterManagers(of: adapter, on: connection).withdraw(application.advertisements)
            return .withdrewAdvertisements
        case .withdrawApplication(let adapter):
            // New centrals no longer find the peripheral; those that are here get their answers, but nobody has the
            // time to finish pairing.
            await application.agent.close()
            await life.host.untilAnswered()
            await application.centrals.untilConfirmed(within: .seconds(1), by: life.clock)
            try await AdapterManagers(of: adapter, on: connection).withdrawApplication()
            return .withdrewApplication
        case .withdrawAgent(let adapter):
            try await agent.withdraw(from: ObjectPath(adapter))
            return .withdrewAgent
        case .finish:
            return nil
        }
    }

    /// Registers the database where it was before, or else where there is room.
    private func registerApplication(on adapter: String, handles: AssignedHandles) async throws {
        let managers = try AdapterManagers(of: adapter, on: connection)
        do {
            try await managers.registerApplication()
        } catch BusError.remote(let name, let message) {
            // Any other error, such as that of a daemon which has just died, says nothing about the handles.
            guard name == "org.bluez.Error.Failed", handles.unpin() else {
                throw BusError.remote(name: name, message: message)
            }
            try await managers.registerApplication()
        }
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
        if settings.powersOn, !adapter.isPowered { try await set("Powered", .bool(true), of: path) }
        if let alias = settings.alias, alias != adapter.alias {
            try await set("Alias", .string(alias), of: path)
        }
        if let isPairable = settings.isPairable { try await set("Pairable", .bool(isPairable), of: path) }
    }

    private func set(_ property: String, _ value: BusValue, of adapter: ObjectPath) async throws {
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

extension Application {
    /// Finds out what the running daemon will make of the declaration.
    ///
    /// - Returns: The warnings.
    /// - Throws: `RegistrationStateMachine.Failure` with the errors.
    func prepare(for version: BlueZVersion) async throws -> [DeclarationIssue] {
        await centrals.setAbilities(Centrals.Abilities(of: version))
        refusals.setVersion(version)
        let issues = BlueZRules(version).examine(publication)
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
        case .registerAdvertisements, .awaitRenewal: .registeringAdvertisement
        case .reportPublication: .connecting
        case .withdrawAdvertisements, .withdrawApplication, .withdrawAgent, .finish: .withdrawing
        }
    }
}
