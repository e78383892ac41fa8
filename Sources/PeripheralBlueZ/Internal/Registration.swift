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
                .foundAdapters(try await self.watcher(on: connection).findAdapters())
            }
        case .registerApplication(let adapter):
            await outcome(.registeringApplication) {
                try await self.watcher(on: connection).watch(adapter)
                try await AdapterManagers(of: adapter, on: connection).registerApplication()
                return .registeredApplication
            }
        case .registerAdvertisement(let adapter):
            await outcome(.registeringAdvertisement) {
                try await AdapterManagers(of: adapter, on: connection).registerAdvertisement()
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
                let managers = try AdapterManagers(of: adapter, on: connection)
                try? await managers.withdrawAdvertisement()
                try? await managers.registerAdvertisement()
                return .renewedAdvertisement
            }
        case .withdrawAdvertisement(let adapter):
            await outcome(.withdrawing) {
                try await AdapterManagers(of: adapter, on: connection).withdrawAdvertisement()
                return .withdrewAdvertisement
            }
        case .withdrawApplication(let adapter):
            await outcome(.withdrawing) {
                // New centrals no longer find the peripheral; those that are here get their answers.
                await self.host.untilAnswered()
                try await AdapterManagers(of: adapter, on: connection).withdrawApplication()
                return .withdrewApplication
            }
        case .finish:
            nil
        }
    }

    private func watcher(on connection: BusConnection) -> AdapterWatcher {
        AdapterWatcher(connection: connection) { [report] event in report.yield(event) }
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
