import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// A run that ends while the removal of a service waits.
@Suite(.timeLimit(.minutes(1)))
struct EndDuringRemovalTests {
    private struct Mishap: Error {}

    enum Ending: CaseIterable {
        case returns, fails, isCancelled
    }

    enum Obstacle: CaseIterable {
        case request, confirmation
    }

    /// A service whose handler never answers by itself while `isSlow` is set.
    private struct Sensor {
        let begun = Log<Void>()
        let value: Characteristic<UInt8>
        let service: GATTService

        init(isSlow: Bool) {
            let begun = begun
            let value = Characteristic<UInt8>(0x2A6E, [.read, .indicate]) {
                Read {
                    begun.append(())
                    if isSlow { for await _ in AsyncStream<Never>.makeStream().stream {} }
                    return 7
                }
            }
            self.value = value
            service = GATTService(0xC200) { value }
        }

        /// Makes a request that is not answered, or sends an indication that is not confirmed.
        func block(_ obstacle: Obstacle, _ central: VirtualCentral, _ session: PeripheralSession) async throws
        {
            switch obstacle {
            case .request:
                let value = value
                Task { _ = try await central.read(value) }
                try await until { !begun.entries.isEmpty }
            case .confirmation:
                central.setConfirmsIndications(false)
                try await central.subscribe(to: value)
                _ = try await session.waitForSubscriber(of: value)
                let value = value
                Task { try await session.indicate(value, 5) }
                _ = try await central.nextUpdate(of: value)
            }
        }
    }

    @Test(arguments: Ending.allCases, Obstacle.allCases)
    func inMemory(ending: Ending, obstacle: Obstacle) async throws {
        let backend = InMemoryBackend()
        try await Self.check(ending, obstacle, on: backend) { backend.makeCentral(of: $0) }
    }

    @Test(arguments: Ending.allCases, Obstacle.allCases)
    func onBlueZ5_66(ending: Ending, obstacle: Obstacle) async throws {
        try await Self.check(ending, obstacle, on: .v5_66)
    }

    @Test(arguments: Ending.allCases, Obstacle.allCases)
    func onBlueZ5_87(ending: Ending, obstacle: Obstacle) async throws {
        try await Self.check(ending, obstacle, on: .v5_87)
    }

    private static func check(_ ending: Ending, _ obstacle: Obstacle, on version: BlueZVersion) async throws {
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            try await check(ending, obstacle, on: bluez.backend) { bluez.central(for: $0) }
        }
    }

    private static func check(
        _ ending: Ending,
        _ obstacle: Obstacle,
        on backend: some PeripheralBackend,
        _ makeCentral: @escaping @Sendable (Peripheral) -> VirtualCentral
    ) async throws {
        let base = Characteristic<UInt8>(0x2A19, value: 99)
        let gateway = Peripheral("Gateway") { GATTService(.battery) { base } }
        let sensor = Sensor(isSlow: obstacle == .request)
        let (changes, change) = AsyncStream.makeStream(of: Task<Void, any Error>.self)
        let run = Task {
            try await gateway.run(on: backend, logger: .silent) { session in
                let central = makeCentral(gateway)
                try await central.connect()
                try await session.add { sensor.service }
                try await sensor.block(obstacle, central, session)
                let task = Task { try await session.remove(sensor.service) }
                // The removal refuses further values, and waits.
                try await until { (try? session.update(sensor.value, 1)) == nil }
                change.yield(task)
                // This change waits for the removal.
                let other = GATTService(0xC201) { Characteristic<UInt8>(0x2A6E, value: 1) }
                change.yield(Task { try await session.add { other } })
                switch ending {
                case .returns: return
                case .fails: throw Mishap()
                case .isCancelled:
                    for await _ in AsyncStream<Never>.makeStream().stream {}
                    try Task.checkCancellation()
                }
            }
        }
        var iterator = changes.makeAsyncIterator()
        let removal = try #require(await iterator.next())
        let addition = try #require(await iterator.next())
        if ending == .isCancelled { run.cancel() }
        // The longest limits are 4 s for an answer and 5 s for a confirmation.
        switch ending {
        case .returns: try await run.value
        case .fails: await #expect(throws: Mishap.self) { try await run.value }
        case .isCancelled: await #expect(throws: CancellationError.self) { try await run.value }
        }
        // The removal has ended as well, before or with the session.
        do {
            try await removal.value
        } catch let error as PeripheralError {
            #expect(error.code == .stopped)
        }
        do {
            try await addition.value
            // The end of the handler can precede the end of the session.
            #expect(ending == .isCancelled && obstacle == .request)
        } catch let error as PeripheralError {
            #expect(error.code == .stopped)
        }
        let again = Sensor(isSlow: false)
        try await gateway.run(on: backend, logger: .silent) { session in
            let central = makeCentral(gateway)
            try await central.connect()
            #expect(try await central.discover().applicationServices.map(\.uuid) == [.battery])
            try await session.add { again.service }
            #expect(try await central.read(again.value) == 7)
            #expect(try await central.read(base) == 99)
            try await session.remove(again.service)
        }
    }
}
