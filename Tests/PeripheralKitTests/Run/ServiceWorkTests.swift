import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What services do by themselves while their peripheral runs.
@Suite(.timeLimit(.minutes(1)))
struct ServiceWorkTests {
    private struct Mishap: Error, Equatable {}

    /// A service that does what a test says.
    private struct WorkingService: GATTServiceDeclaration {
        let value = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 7 } }
        let uuid: BluetoothUUID
        let work: @Sendable (Characteristic<UInt8>, PeripheralSession) async throws -> Void

        init(
            _ uuid: BluetoothUUID = 0x180F,
            work: @escaping @Sendable (Characteristic<UInt8>, PeripheralSession) async throws -> Void
        ) {
            self.uuid = uuid
            self.work = work
        }

        var service: GATTService { GATTService(uuid) { value } }

        func run(in session: PeripheralSession) async throws {
            try await work(value, session)
        }
    }

    @Test func eachServiceRunsOnceUntilTheBodyEnds() async throws {
        let log = Log<String>()
        let services = ["first", "second"].map { name in
            WorkingService { value, session in
                log.append("\(name) begins")
                await untilCancelled()
                // The session is still there for what is left to do.
                _ = try session.subscribers(of: value)
                log.append("\(name) ends")
            }
        }
        try await Peripheral("Run") { services }.test { _ in
            try await until { log.entries.count == 2 }
            log.append("body ends")
        }
        #expect(Set(log.entries.prefix(2)) == ["first begins", "second begins"])
        #expect(log.entries.dropFirst(2).first == "body ends")
        #expect(Set(log.entries.dropFirst(3)) == ["first ends", "second ends"])
        #expect(log.entries.count == 5)
    }

    @Test func eachRunBeginsAnew() async throws {
        let log = Log<String>()
        let peripheral = Peripheral("Run") { WorkingService { _, _ in log.append("begins") } }
        for count in 1...2 {
            try await peripheral.test { _ in try await until { log.entries.count == count } }
        }
        #expect(log.entries == ["begins", "begins"])
    }

    @Test func runsOnWithoutABody() async throws {
        let log = Log<String>()
        let peripheral = Peripheral("Run") {
            WorkingService { _, _ in
                log.append("begins")
                await untilCancelled()
                log.append("ends")
            }
        }
        let running = Task { try await peripheral.run(on: InMemoryBackend(), logger: .silent) }
        try await until { log.entries == ["begins"] }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(log.entries == ["begins", "ends"])
    }

    @Test func anErrorEndsTheSession() async throws {
        let log = Log<String>()
        let peripheral = Peripheral("Run") { WorkingService { _, _ in throw Mishap() } }
        await #expect(throws: Mishap.self) {
            try await peripheral.test { _ in
                await untilCancelled()
                log.append("cancelled")
                throw CancellationError()
            }
        }
        #expect(log.entries == ["cancelled"])
    }

    @Test(
        arguments: [
            CancellationError(), PeripheralError(code: .stopped, message: "The session is over."),
        ] as [any Error]
    )
    func theEndOfTheSessionIsNoErrorOfAService(error: any Error) async throws {
        let log = Log<String>()
        let peripheral = Peripheral("Run") {
            WorkingService { _, _ in
                log.append("throws")
                throw error
            }
        }
        let output = try await peripheral.test { central in
            try await until { log.entries == ["throws"] }
            return try await central.discover().applicationServices.count
        }
        #expect(output == 1)
    }

    @Test func theBodysErrorIsThrown() async throws {
        let peripheral = Peripheral("Run") {
            WorkingService { _, _ in
                await untilCancelled()
                throw PeripheralError(code: .timedOut, message: "This comes of the end.")
            }
        }
        await #expect(throws: Mishap.self) {
            try await peripheral.test { _ in throw Mishap() }
        }
    }

    @Test func whyTheBackendEndsIsThrown() async {
        let log = Log<String>()
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: RecordingLink())))
            await log.untilNotEmpty()
            throw PeripheralError(code: .connectionLost, message: "The stack is gone.")
        }
        let peripheral = Peripheral("Run") {
            WorkingService { value, session in
                log.append("begins")
                await untilCancelled()
                try await session.notify(value, 1)
            }
        }
        let error = await #expect(throws: PeripheralError.self) {
            try await peripheral.run(on: backend, logger: .silent)
        }
        #expect(error?.code == .connectionLost)
    }

    /// The stack goes away, and publishes the peripheral again.
    @Test func goesOnThroughARecovery() async throws {
        let log = Log<String>()
        let (resets, reset) = AsyncStream.makeStream(of: Void.self)
        let backend = ScriptedBackend { _, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            await log.untilNotEmpty()
            host.handle(.suspended)
            host.handle(.published(PublishedPeripheral(link: link)))
            reset.yield()
            await link.untilStopped()
        }
        let peripheral = Peripheral("Run") {
            WorkingService { _, _ in
                log.append("begins")
                await untilCancelled()
                log.append("ends")
            }
        }
        try await peripheral.run(on: backend, logger: .silent) { _ in
            for await _ in resets { break }
            #expect(log.entries == ["begins"])
        }
        #expect(log.entries == ["begins", "ends"])
    }

    @Test func nothingIsLostOfWhatHappensBeforeItAsks() async throws {
        let (asking, ask) = AsyncStream.makeStream(of: Void.self)
        let departed = Log<Central>()
        let peripheral = Peripheral("Run") {
            WorkingService { _, session in
                for await _ in asking { break }
                for await event in session.events {
                    if case .disconnected(let central, _) = event { departed.append(central) }
                }
            }
        }
        try await peripheral.test { central, session in
            let events = session.events
            central.disconnect()
            for await event in events {
                if case .disconnected = event { break }
            }
            ask.yield()
            try await until { departed.entries.count == 1 }
        }
    }

    @Test func whatAServiceSendsAtOnceIsSent() async throws {
        let link = RecordingLink()
        let backend = ScriptedBackend { publication, host in
            link.deliver(for: host)
            let handle = publication.table.valueHandle(service: 0, characteristic: 0)
            host.handle(.subscribed(BackendSubscription(characteristic: handle, central: nil)))
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        let peripheral = Peripheral("Run") {
            WorkingService { value, session in try await session.notify(value, 7) }
        }
        try await peripheral.run(on: backend, logger: .silent) { _ in
            try await until { !link.sent.isEmpty }
        }
        #expect(link.sent.map(\.value) == [[7]])
    }
}

private func untilCancelled() async {
    for await _ in AsyncStream(Never.self, { _ in }) {}
}
