internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// Carries out the decisions of a ``SupervisorStateMachine``.
final class Supervisor: Sendable {
    typealias Event = SupervisorStateMachine.Event
    typealias Action = SupervisorStateMachine.Action
    typealias Failure = RegistrationStateMachine.Failure

    /// An event that concerns the peripheral, or the outcome of a step.
    private struct QueuedEvent: Equatable {
        var event: Event
        var step: Int?
        /// The session that the event belongs to; `nil` if the session does not matter.
        var session: Int?
    }

    private struct State {
        var session: BusSession?
        /// The number of bus sessions so far.
        var number = 0
        /// The addresses of the adapters, by their paths.
        var addresses: [String: DeviceAddress] = [:]
        /// The knowledge about handles from earlier registrations.
        var record: HandleRecord
        /// The name in the advertisements, which the adapter must have as its alias during the run.
        var wantedAlias: String?
        /// The alias that the peripheral has given an adapter.
        var ownAlias: String?
        /// The numbers of the listeners for L2CAP channels.
        var psms: [UInt16]
        /// The preserved text of ``record``, ``psms`` and ``ownAlias``.
        var preserved: String
        /// The publication that the host has not been informed of.
        var unreported: PublishedPeripheral?
        /// Whether the peripheral is registered on an adapter that is powered off.
        var lacksPower = false
        /// The last logged reason why the peripheral, or a part of it, is off the air.
        var reported: Failure?
    }

    let publication: BackendPublication
    let host: any PeripheralHost
    let clock: any Clock<Duration>
    let log: RunLog
    let services: WantedServices
    private let backend: BlueZBackend
    private let logger: Logger
    private let loop: EventLoop
    private let service: ServiceReporter?
    private let settings: SettingsReport
    private let events = EventQueue<QueuedEvent>()
    private let demands = AdvertisingDemands()
    private let times = AdvertisingTimes()
    private let state: Mutex<State>
    /// The interval between checks over another connection, while this connection reports that bluetoothd
    /// does not run.
    private static let timeBetweenChecks = Duration.seconds(60)
    /// The time that the adapter must stay unusable before the reason is logged.
    ///
    /// When bluetoothd ends or an adapter is unplugged, the adapter is first powered off. bluetoothd
    /// disappears last. The log reports the final reason.
    private static let timeToSettle = Duration.seconds(2)

    init(
        of publication: BackendPublication,
        for host: any PeripheralHost,
        by backend: BlueZBackend,
        on loop: EventLoop,
        logger: Logger
    ) {
        self.publication = publication
        self.host = host
        self.backend = backend
        self.loop = loop
        clock = backend.clock
        self.logger = logger
        service = backend.serviceManager.map { ServiceReporter(to: $0, on: loop, logger: logger) }
        log = RunLog(logger)
        settings = SettingsReport(files: backend.files, publication: publication, log: log)
        let preserved = PreservedBackendState(publication.backendState)
        state = Mutex(
            State(
                record: HandleRecord(preserved.record) ?? HandleRecord(),
                wantedAlias: AdapterAlias.wanted(by: publication.advertisements),
                ownAlias: preserved.alias,
                psms: preserved.psms,
                preserved: publication.backendState
            )
        )
        services = WantedServices(publication, log: log)
    }

    /// Requests the end; ``run()`` returns after everything is withdrawn.
    func stop() {
        requestStop()
    }

    /// A closure that requests the end.
    ///
    /// The closure may outlive this object. It does not hold this object, because this object holds the host.
    var requestStop: @Sendable () -> Void {
        { [events] in events.add(QueuedEvent(event: .stopRequested)) }
    }

    /// A closure that changes the advertisements, and returns when they are on the air.
    ///
    /// If the peripheral is off the air, the closure returns when the advertisements are certain to follow
    /// with the peripheral. The closure may outlive this object, like ``requestStop``.
    var demand: @Sendable ([Advertisement], Set<Int>) async throws -> Void {
        { [events, demands] advertisements, restarted in
            try await demands.make(advertisements) {
                events.add(QueuedEvent(event: .advertisingDemanded(advertisements, restarted: restarted)))
            }
        }
    }

    /// Closures that examine, add and remove services.
    ///
    /// The last two return when the change is on the air. If the peripheral is off the air, they return when
    /// the change is certain to follow with the peripheral. The closures may outlive this object, like
    /// ``requestStop``.
    var changeServices:
        (
            examine: @Sendable (BackendServices) throws -> Void,
            add: @Sendable (BackendServices) async throws -> Void,
            remove: @Sendable ([AttributeHandle]) async throws -> Void
        )
    {
        let send: @Sendable (GroupedServices, Set<Int>) -> Void = { [events] present, returning in
            events.add(QueuedEvent(event: .servicesDemanded(present, returning: returning)))
        }
        return (
            { [services] added in try services.examine(added) },
            { [services] added in try await services.add(added, send) },
            { [services] removed in try await services.remove(removed, send) }
        )
    }

    /// Sets the capabilities of the adapter, before the advertisements are registered.
    func setCapabilities(_ capabilities: AdvertisingCapabilities) {
        demands.setCapabilities(capabilities)
        settings.report(on: capabilities)
    }

    /// Registers, serves and recovers until the end, and then withdraws everything.
    ///
    /// - Returns: The reason for the end; `nil` if the end was requested.
    func run() async -> Failure? {
        var machine = SupervisorStateMachine(
            selection: backend.adapter,
            settings: backend.settings,
            recovery: backend.recovery,
            services: services.present,
            advertisements: publication.advertisements
        )
        service?.start()
        var action = machine.start()
        var step = 0
        while true {
            if case .finish(let failure) = action {
                service?.noteStop()
                demands.change.close()
                services.change.close()
                await close()
                await service?.close()
                return failure
            }
            step += 1
            action = await carryOut(action, as: step) { event in
                if case .stopRequested = event { service?.noteStop() }
                if case .advertisingDemanded(let new, _) = event, let name = AdapterAlias.wanted(by: new) {
                    state.withLock { $0.wantedAlias = name }
                }
                let ended = machine.endedAdvertisements
                let action = machine.handle(event)
                // Logs only a new report, because the bus may have reported the daemon during the check.
                if case .daemonFound = event, action != nil {
                    logger.notice(
                        "bluetoothd runs, but the bus did not report it. The peripheral connects to the bus again."
                    )
                }
                for number in machine.endedAdvertisements.subtracting(ended) {
                    host.handle(.advertisementEnded(number))
                }
                let restarted = ended.subtracting(machine.endedAdvertisements)
                times.reset { restarted.contains($0) || $0 >= machine.advertisementCount }
                note(machine.peripheralState)
                // After the state: a body that begins now sees the peripheral on the air.
                if machine.isPublished, let published = state.withLock({ $0.unreported.take() }) {
                    host.handle(.published(published))
                }
                if let outcome = machine.takeOutcomeOfDemand() {
                    demands.change.end(outcome.mapError(\.error))
                }
                if let outcome = machine.takeOutcomeOfServices() {
                    services.change.end(outcome.mapError(\.error))
                }
                return action
            }
        }
    }

    /// Carries out a step, and passes on events until the next step is decided.
    ///
    /// If the step still runs then, it is cancelled.
    private func carryOut(
        _ action: Action,
        as step: Int,
        decide: (Event) -> Action?
    ) async -> Action {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                guard let outcome = await perform(action) else { return }
                events.add(QueuedEvent(event: outcome, step: step))
            }
            defer { group.cancelAll() }
            var lackedPower = false
            while true {
                let lacksPower = state.withLock(\.lacksPower)
                if lacksPower, !lackedPower { group.addTask { [self] in await reportMissingPower() } }
                lackedPower = lacksPower
                let queued = await events.next()
                // Ignores the outcome of a cancelled step, and events of an ended session.
                if let origin = queued.step, origin != step { continue }
                if let origin = queued.session, origin != state.withLock({ $0.number }) { continue }
                if let next = decide(queued.event) { return next }
            }
        }
    }

    private func note(_ peripheral: PeripheralState) {
        state.withLock { state in
            // At other times, the code that waits for power logs the lack of power.
            state.lacksPower = peripheral.isRegistered && peripheral.radio == .poweredOff
            if peripheral.isRegistered, peripheral.reason == nil { state.reported = nil }
        }
        service?.note(peripheral)
        host.handle(.stateChanged(peripheral))
    }

    /// Logs that the adapter is powered off if the adapter stays off.
    private func reportMissingPower() async {
        try? await clock.sleep(for: Self.timeToSettle)
        guard !Task.isCancelled, state.withLock(\.lacksPower) else { return }
        report(.powerLost)
    }

    private func close() async {
        let session = state.withLock { state in
            state.number += 1
            state.unreported = nil
            return state.session.take()
        }
        // This also applies to a peripheral that was not published, because centrals can connect as soon as
        // the services are registered.
        await session?.close { host.handle(.suspended) }
    }
}

// MARK: - Steps

extension Supervisor {
    /// Performs an action, and returns its outcome.
    private func perform(_ action: Action) async -> Event? {
        switch action {
        case .connect:
            return await outcome(.connecting) {
                try await connect()
                return .connected
            }
        case .examine(let startsDaemon):
            return await outcome(.findingAdapters) {
                let session = try session()
                let adapters = try await session.watcher.findAdapters(startsDaemon: startsDaemon)
                state.withLock { state in
                    for adapter in adapters { state.addresses[adapter.path] = adapter.address }
                }
                // All adapters belong to the same daemon.
                if let version = adapters.first?.version {
                    services.setVersion(version)
                    for warning in try await session.prepare(publication, for: version) {
                        log.report(.declaration(warning), .warning, "\(warning.message)")
                    }
                }
                return .examined(adapters)
            }
        case .prepare(let adapter):
            return await outcome(.preparing) {
                try await session().prepare(adapter, backend.settings)
                return .preparedAdapter
            }
        case .registration(let action, let adapter):
            return await outcome(action.step) {
                try await session().perform(action, on: adapter, for: self).map { .registration($0) }
            }
        case .awaitChange(let failure):
            if failure.code == .adapterUnavailable {
                guard (try? await clock.sleep(for: Self.timeToSettle)) != nil else { return nil }
            }
            report(failure)
            // While bluetoothd runs, it reports changes of the adapters.
            return failure.code == .stackUnavailable ? await untilDaemonRuns() : nil
        case .wait(let longest, let failure):
            report(failure)
            // Waits for a random time between half of the delay and the whole delay.
            let delay = longest / 2 + longest / 2 * Double.random(in: 0...1)
            try? await clock.sleep(for: delay)
            return .waited
        case .disconnect:
            await close()
            return .disconnected
        case .finish:
            return nil
        }
    }

    private func connect() async throws {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        for group in services.groups { group.handles.pin() }
        let record = state.withLock { state in
            // An adapter that was unplugged in the meantime has a new database, even if bluetoothd was not
            // restarted.
            if number > 1 { state.record.forgetChecked() }
            return state.record
        }
        let session = try await BusSession(
            of: publication,
            for: host,
            at: backend.bus,
            on: loop,
            record: record,
            times: times,
            version: backend.version,
            kernelLinks: backend.kernelLinks ?? HCISocketLinks(),
            fallbackRate: backend.fallbackRate,
            isPairable: backend.settings.isPairable,
            clock: clock,
            log: log
        ) { [events] event in
            events.add(QueuedEvent(event: event, session: number))
        }
        state.withLock { $0.session = session }
    }

    /// Waits until bluetoothd runs, according to a new connection to the bus each minute.
    ///
    /// The existing connection reports the start of bluetoothd at once. If this report fails for any reason,
    /// the check ensures that the peripheral does not stay off the air.
    ///
    /// - Returns: `nil` if this step is cancelled.
    private func untilDaemonRuns() async -> Event? {
        while (try? await clock.sleep(for: Self.timeBetweenChecks)) != nil {
            if await DaemonWatcher.findsDaemon(at: backend.bus, on: loop) { return .daemonFound }
        }
        return nil
    }

    private func session() throws -> BusSession {
        guard let session = state.withLock({ $0.session }) else { throw Failure.busLost }
        return session
    }

    /// Keeps the knowledge about handles for the next registration.
    ///
    /// If the state is preserved, the knowledge also lasts for the next run.
    func keep(_ record: HandleRecord) {
        preserve { $0.record = record }
    }

    /// Keeps the alias that the peripheral has given the adapter; `nil` if it has given none.
    func keepAlias(_ alias: String?) {
        preserve { $0.ownAlias = alias }
    }

    /// Keeps the numbers of the listeners for L2CAP channels.
    func keepPSMs(_ psms: [UInt16]) {
        preserve { $0.psms = psms }
    }

    private func preserve(_ change: (inout State) -> Void) {
        let new = state.withLock { state -> String? in
            change(&state)
            let text = PreservedBackendState(
                record: state.record.text,
                psms: state.psms,
                alias: state.ownAlias
            ).text
            defer { state.preserved = text }
            return state.preserved == text ? nil : text
        }
        if let new { host.handle(.backendStateChanged(new)) }
    }

    /// The alias that the peripheral has given an adapter, in this run or earlier.
    var ownAlias: String? { state.withLock(\.ownAlias) }

    /// The numbers of the listeners for L2CAP channels, in this run or earlier.
    var psms: [UInt16] { state.withLock(\.psms) }

    /// The alias that the adapter must have during the run.
    var wantedAlias: String? {
        backend.settings.alias == .ofPeripheral ? state.withLock(\.wantedAlias) : nil
    }

    func address(of adapter: String) -> DeviceAddress? {
        state.withLock { $0.addresses[adapter] }
    }

    /// Prepares the report of the publication.
    ///
    /// The host receives the report together with the new state of the peripheral. If bluetoothd ends
    /// before, the host receives neither.
    func prepareReport(
        by link: any BackendLink,
        completionReporting: CompletionReporting,
        adapter: DeviceAddress?
    ) {
        // A socket has room for 224 values.
        let window = completionReporting == .unknown && backend.fallbackRate == .unlimited ? 224 : 16
        let published = PublishedPeripheral(
            link: link,
            completionReporting: completionReporting,
            window: window,
            adapter: adapter
        )
        state.withLock { $0.unreported = published }
    }

    /// Logs which part is off the air and why, unless the last log line reported the same failure.
    func report(
        _ failure: Failure,
        _ message: Logger.Message =
            "The peripheral is not published. The backend will publish the peripheral as soon as possible."
    ) {
        let isNew = state.withLock { state in
            defer { state.reported = failure }
            return state.reported != failure
        }
        guard isNew else { return }
        logger.warning(
            message,
            metadata: ["peripheral.reason": .bounded(failure.message, by: "\(failure.code)")]
        )
    }

    private func outcome(_ step: RegistrationStep, _ work: () async throws -> Event?) async -> Event? {
        do {
            return try await work()
        } catch {
            return .failed((error as? Failure) ?? Failure(error, step: step))
        }
    }
}
