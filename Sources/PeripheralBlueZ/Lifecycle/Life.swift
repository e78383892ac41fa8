internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// Carries out what a ``LifeStateMachine`` decides.
final class Life: Sendable {
    typealias Event = LifeStateMachine.Event
    typealias Action = LifeStateMachine.Action
    typealias Failure = RegistrationStateMachine.Failure

    /// Something that happens: around the peripheral, or as the outcome of a step.
    private struct Occurrence: Equatable {
        var event: Event
        var step: Int?
        /// The presence that it happened to; `nil` where that does not matter.
        var presence: Int?
    }

    private struct State {
        var presence: Presence?
        /// How many presences there have been.
        var number = 0
        /// The addresses of the adapters, by their paths.
        var addresses: [String: DeviceAddress] = [:]
        /// What is known of the handles from earlier registrations.
        var record: HandleRecord
        /// What is preserved of it.
        var preservedRecord: String
        /// Whether the peripheral is registered on an adapter that is powered off.
        var lacksPower = false
        /// Why the peripheral, or a part of it, is off the air, as the log was told last.
        var told: Failure?
    }

    let publication: Publication
    let host: any PeripheralHost
    let clock: any Clock<Duration>
    let log: RunLog
    let handles: AssignedHandles
    private let backend: BlueZBackend
    private let logger: Logger
    private let loop: EventLoop
    private let service: ServiceReporter?
    private let occurrences = EventQueue<Occurrence>()
    private let demands = AdvertisingDemands()
    private let times = AdvertisingTimes()
    private let state: Mutex<State>
    /// How often another connection is asked whether bluetoothd runs, while this one tells that it does not.
    private static let timeBetweenChecks = Duration.seconds(60)
    /// How long the adapter is unfit before the log is told.
    ///
    /// When bluetoothd ends or an adapter is unplugged, it is powered off first, and bluetoothd is gone last. The reason is
    /// what it comes to.
    private static let timeToSettle = Duration.seconds(2)

    init(
        of publication: Publication,
        for host: any PeripheralHost,
        by backend: BlueZBackend,
        on loop: EventLoop
    ) {
        self.publication = publication
        self.host = host
        self.backend = backend
        self.loop = loop
        clock = backend.clock
        logger = backend.logger
        service = backend.serviceManager.map { ServiceReporter(to: $0, on: loop, logger: backend.logger) }
        log = RunLog(backend.logger)
        state = Mutex(
            State(
                record: HandleRecord(publication.backendState) ?? HandleRecord(),
                preservedRecord: publication.backendState
            )
        )
        handles = AssignedHandles(
            for: publication.table,
            preserved: publication.preservedHandles,
            newServices: publication.newServices
        )
    }

    /// Asks for the end; ``run()`` returns when all is withdrawn.
    func stop() {
        requestStop()
    }

    /// What may be kept longer than this object, which keeps the host, is given only this of it.
    var requestStop: @Sendable () -> Void {
        { [occurrences] in occurrences.add(Occurrence(event: .stopRequested)) }
    }

    /// Has something else advertised, and returns when it is on the air, or will be when the peripheral is.
    ///
    /// As ``requestStop``, it may be kept longer than this object.
    var demand: @Sendable ([Advertisement], Set<Int>) async throws -> Void {
        { [occurrences, demands] advertisements, restarted in
            try await demands.make(advertisements) {
                occurrences.add(Occurrence(event: .advertisingDemanded(advertisements, restarted: restarted)))
            }
        }
    }

    /// Takes note of what the adapter can do.
    func setCapabilities(_ capabilities: AdvertisingCapabilities) {
        demands.setCapabilities(capabilities)
    }

    /// Registers, serves and recovers until the end, and withdraws.
    ///
    /// - Returns: Why it ended, or `nil` when it was asked to.
    func run() async -> Failure? {
        var machine = LifeStateMachine(
            selection: backend.adapter,
            settings: backend.settings,
            recovery: backend.recovery,
            advertisements: publication.advertisements
        )
        service?.start()
        var action = machine.start()
        var step = 0
        while true {
            if case .finish(let failure) = action {
                service?.noteStop()
                demands.close()
                await close()
                await service?.close()
                return failure
            }
            step += 1
            action = await carryOut(action, as: step) { event in
                if case .stopRequested = event { service?.noteStop() }
                let ended = machine.endedAdvertisements
                let action = machine.handle(event)
                // Only where it is news: the bus may have told while the other connection was asked.
                if case .daemonFound = event, action != nil {
                    logger.notice(
                        "bluetoothd runs, but the bus did not tell so; the peripheral connects to it anew."
                    )
                }
                for number in machine.endedAdvertisements.subtracting(ended) {
                    host.handle(.advertisementEnded(number))
                }
                let restarted = ended.subtracting(machine.endedAdvertisements)
                times.reset { restarted.contains($0) || $0 >= machine.advertisementCount }
                note(machine.peripheralState)
                if let outcome = machine.takeOutcomeOfDemand() { demands.end(outcome.mapError(\.error)) }
                return action
            }
        }
    }

    /// Carries out a step, and tells what happens meanwhile and thereafter, until the next is decided on; what is
    /// still under way then is cancelled.
    private func carryOut(
        _ action: Action,
        as step: Int,
        decide: (Event) -> Action?
    ) async -> Action {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                guard let outcome = await perform(action) else { return }
                occurrences.add(Occurrence(event: outcome, step: step))
            }
            defer { group.cancelAll() }
            var lackedPower = false
            while true {
                let lacksPower = state.withLock(\.lacksPower)
                if lacksPower, !lackedPower { group.addTask { [self] in await tellOfPower() } }
                lackedPower = lacksPower
                let occurrence = await occurrences.next()
                // What came of a step that was cancelled does not count, nor what is told of a presence that is over.
                if let origin = occurrence.step, origin != step { continue }
                if let origin = occurrence.presence, origin != state.withLock({ $0.number }) { continue }
                if let next = decide(occurrence.event) { return next }
            }
        }
    }

    private func note(_ peripheral: PeripheralState) {
        state.withLock { state in
            // What is missing at other times is told where it is waited for.
            state.lacksPower = peripheral.isRegistered && peripheral.radio == .poweredOff
            if peripheral.isRegistered, peripheral.reason == nil { state.told = nil }
        }
        service?.note(peripheral)
        host.handle(.stateChanged(peripheral))
    }

    /// Tells the log that the adapter is powered off, if it stays so.
    private func tellOfPower() async {
        try? await clock.sleep(for: Self.timeToSettle)
        guard !Task.isCancelled, state.withLock(\.lacksPower) else { return }
        tell(.powerLost)
    }

    private func close() async {
        let presence = state.withLock { state in
            state.number += 1
            return state.presence.take()
        }
        // Also where it was not published: centrals may have come as soon as the services were there.
        await presence?.close { host.handle(.suspended) }
    }
}

// MARK: - Steps

extension Life {
    /// Does what is due, and tells what comes of it.
    private func perform(_ action: Action) async -> Event? {
        switch action {
        case .connect:
            return await outcome(.connecting) {
                try await connect()
                return .connected
            }
        case .examine(let startsDaemon):
            return await outcome(.findingAdapters) {
                let presence = try presence()
                let adapters = try await presence.watcher.findAdapters(startsDaemon: startsDaemon)
                state.withLock { state in
                    for adapter in adapters { state.addresses[adapter.path] = adapter.address }
                }
                // One daemon has them all.
                if let version = adapters.first?.version {
                    for warning in try await presence.prepare(for: version) {
                        log.tell(.declaration(warning), .warning, "\(warning)")
                    }
                }
                return .examined(adapters)
            }
        case .prepare(let adapter):
            return await outcome(.preparing) {
                try await presence().prepare(adapter, backend.settings)
                return .preparedAdapter
            }
        case .registration(let action, let adapter):
            return await outcome(action.step) {
                try await presence().perform(action, on: adapter, for: self).map { .registration($0) }
            }
        case .awaitChange(let failure):
            if failure.code == .adapterUnavailable {
                guard (try? await clock.sleep(for: Self.timeToSettle)) != nil else { return nil }
            }
            tell(failure)
            // While bluetoothd runs, it tells what becomes of the adapters.
            return failure.code == .stackUnavailable ? await untilDaemonRuns() : nil
        case .wait(let longest, let failure):
            tell(failure)
            // Half of it at random.
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
        handles.pin()
        let record = state.withLock { state in
            // An adapter that was unplugged meanwhile has a new database, also in the same bluetoothd.
            if number > 1 { state.record.forgetChecked() }
            return state.record
        }
        let presence = try await Presence(
            of: publication,
            for: host,
            at: backend.bus,
            on: loop,
            handles: handles,
            record: record,
            times: times,
            version: backend.version,
            kernelLinks: backend.kernelLinks ?? HCISocketLinks(),
            fallbackRate: backend.fallbackRate,
            log: log
        ) { [occurrences] event in
            occurrences.add(Occurrence(event: event, presence: number))
        }
        state.withLock { $0.presence = presence }
    }

    /// Waits until bluetoothd runs, as a new connection to the bus tells each minute.
    ///
    /// The connection that stands tells it at once. If it does not, for whatever reason, the peripheral must not stay
    /// off the air until somebody starts the program anew.
    ///
    /// - Returns: `nil` when this step is cancelled.
    private func untilDaemonRuns() async -> Event? {
        while (try? await clock.sleep(for: Self.timeBetweenChecks)) != nil {
            if await DaemonWatcher.findsDaemon(at: backend.bus, on: loop) { return .daemonFound }
        }
        return nil
    }

    private func presence() throws -> Presence {
        guard let presence = state.withLock({ $0.presence }) else { throw Failure.busLost }
        return presence
    }

    /// Keeps what is known of the handles for the next registration, also by the next run if something is preserved.
    func keep(_ record: HandleRecord) {
        let isNew = state.withLock { state in
            defer { (state.record, state.preservedRecord) = (record, record.text) }
            return state.preservedRecord != record.text
        }
        if isNew { host.handle(.backendStateChanged(record.text)) }
    }

    func address(of adapter: String) -> DeviceAddress? {
        state.withLock { $0.addresses[adapter] }
    }

    func reportPublication(by link: any BackendLink, pacing: UpdatePacing, adapter: DeviceAddress?) {
        // A socket takes as many.
        let window = pacing == .unknown && backend.fallbackRate == .unlimited ? 224 : 16
        host.handle(
            .published(
                PublishedPeripheral(link: link, pacing: pacing, window: window, adapter: adapter)
            )
        )
    }

    /// Tells the log what is off the air and why, unless it has been told just that.
    func tell(
        _ failure: Failure,
        _ message: Logger.Message =
            "The peripheral is off the air, and comes back by itself as soon as it can."
    ) {
        let isNew = state.withLock { state in
            defer { state.told = failure }
            return state.told != failure
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
