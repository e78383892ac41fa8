internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Carries out what a ``RegistrationStateMachine`` decides, on one connection to the bus.
final class Registration: Sendable {
    typealias Event = RegistrationStateMachine.Event
    typealias Action = RegistrationStateMachine.Action
    typealias Failure = RegistrationStateMachine.Failure

    /// Something that happens: to the registration, or as the outcome of a step.
    private struct Occurrence: Equatable {
        var event: Event
        var step: Int?
    }

    private let application: Application
    private let agent: AgentRegistration
    private let host: any PeripheralHost
    private let selection: AdapterSelection
    private let version: BlueZVersion?
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let occurrences = EventQueue<Occurrence>()

    init(
        application: Application,
        agent: AgentRegistration,
        host: any PeripheralHost,
        selection: AdapterSelection,
        version: BlueZVersion?,
        clock: any Clock<Duration>,
        logger: Logger
    ) {
        self.application = application
        self.agent = agent
        self.host = host
        self.selection = selection
        self.version = version
        self.clock = clock
        self.logger = logger
    }

    /// Asks for the end; ``run(on:)`` returns when all is withdrawn.
    func stop() {
        report(.stopRequested)
    }

    /// What may be kept longer than this object, which keeps the host, is given only this of it.
    private var report: @Sendable (Event) -> Void {
        { [occurrences] event in occurrences.add(Occurrence(event: event)) }
    }

    /// Registers, serves until the end, and withdraws.
    ///
    /// - Returns: Why it ended, or `nil` when it was asked to.
    func run(on connection: BusConnection) async -> Failure? {
        var machine = RegistrationStateMachine(selection: selection)
        do {
            try await prepare(connection)
        } catch {
            return Failure(error, step: .connecting)
        }
        var action = machine.start()
        var step = 0
        while true {
            if case .finish(let failure) = action { return failure }
            step += 1
            action = await carryOut(action, as: step, on: connection) { machine.handle($0) }
        }
    }

    /// Carries out a step, and tells what happens meanwhile and thereafter, until the next is decided on; what is
    /// still under way then is cancelled.
    private func carryOut(
        _ action: Action,
        as step: Int,
        on connection: BusConnection,
        decide: (Event) -> Action?
    ) async -> Action {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                guard let outcome = await perform(action, on: connection) else { return }
                occurrences.add(Occurrence(event: outcome, step: step))
            }
            defer { group.cancelAll() }
            while true {
                let occurrence = await occurrences.next()
                // What came of a step that was cancelled does not count.
                if let origin = occurrence.step, origin != step { continue }
                if let next = decide(occurrence.event) { return next }
            }
        }
    }

    private func prepare(_ connection: BusConnection) async throws {
        await connection.onLoss { [report] in report(.lost(.busLost)) }
        try await application.export(on: connection) { [report] in report(.advertisementReleased) }
    }
}

// MARK: - Steps

extension Registration {
    /// Does what is due, and tells what comes of it.
    private func perform(_ action: Action, on connection: BusConnection) async -> Event? {
        switch action {
        case .findAdapters:
            await outcome(.findingAdapters) {
                let adapters = try await self.watcher(on: connection).findAdapters()
                // One daemon has them all.
                if let version = adapters.first?.version { try await self.prepare(for: version) }
                return .foundAdapters(adapters)
            }
        case .registerAgent(let adapter):
            await outcome(.registeringAgent) {
                try await self.watcher(on: connection).watch(adapter)
                try await self.watchCentrals(of: adapter, on: connection)
                try await self.agent.register(on: ObjectPath(adapter))
                return .registeredAgent
            }
        case .registerApplication(let adapter):
            await outcome(.registeringApplication) {
                try await AdapterManagers(of: adapter, on: connection).registerApplication()
                return .registeredApplication
            }
        case .registerAdvertisement(let adapter):
            await outcome(.registeringAdvertisement) {
                try await AdapterManagers(of: adapter, on: connection).register(
                    self.application.advertisements,
                    version: await self.application.centrals.abilities.version
                )
                return .registeredAdvertisement
            }
        case .reportPublication(let adapter):
            await outcome(.connecting) {
                let link = BlueZLink(
                    devices: Devices(connection: connection, adapter: try ObjectPath(adapter)),
                    centrals: self.application.centrals,
                    stop: { [report = self.report] in report(.stopRequested) }
                )
                self.host.handle(.published(PublishedPeripheral(link: link)))
                return .reportedPublication
            }
        case .awaitRenewal(let delay, let failure):
            await outcome(.registeringAdvertisement) {
                self.logger.warning(
                    "The advertisement is off the air and could not be renewed; it will be tried again.",
                    metadata: ["peripheral.reason": "\(failure.message)", "peripheral.delay": "\(delay)"]
                )
                try await self.clock.sleep(for: delay)
                return .renewalIsDue
            }
        case .withdrawAdvertisement(let adapter):
            await outcome(.withdrawing) {
                for advertisement in self.application.advertisements {
                    try await AdapterManagers(of: adapter, on: connection).withdraw(advertisement)
                }
                return .withdrewAdvertisement
            }
        case .withdrawApplication(let adapter):
            await outcome(.withdrawing) {
                // New centrals no longer find the peripheral; those that are here get their answers, but nobody has the
                // time to finish pairing.
                await self.application.agent.close()
                await self.host.untilAnswered()
                try await AdapterManagers(of: adapter, on: connection).withdrawApplication()
                return .withdrewApplication
            }
        case .withdrawAgent(let adapter):
            await outcome(.withdrawing) {
                try await self.agent.withdraw(from: ObjectPath(adapter))
                return .withdrewAgent
            }
        case .finish:
            nil
        }
    }

    /// Finds out what the running daemon will make of the declaration.
    private func prepare(for version: BlueZVersion) async throws {
        await application.centrals.setAbilities(Centrals.Abilities(of: version))
        application.refusals.setVersion(version)
        let issues = BlueZRules(version).examine(application.publication)
        for warning in issues where warning.severity == .warning { logger.warning("\(warning)") }
        let errors = issues.filter { $0.severity == .error }
        guard errors.isEmpty else { throw Failure(errors) }
    }

    private func watchCentrals(of adapter: String, on connection: BusConnection) async throws {
        let centrals = application.centrals
        await centrals.onConnectionChange { [report] in report(.connectionChanged) }
        try await DeviceWatcher(connection: connection, adapter: try ObjectPath(adapter), centrals: centrals)
            .watch()
    }

    private func watcher(on connection: BusConnection) -> AdapterWatcher {
        AdapterWatcher(connection: connection, version: version, report: report)
    }

    private func outcome(_ step: RegistrationStep, _ work: () async throws -> Event) async -> Event {
        do {
            return try await work()
        } catch {
            return .failed((error as? Failure) ?? Failure(error, step: step))
        }
    }
}
