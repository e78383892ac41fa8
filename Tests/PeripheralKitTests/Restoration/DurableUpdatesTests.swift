import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Testing

/// What is kept for a subscriber until it can be sent.
@Suite(.timeLimit(.minutes(1)))
final class DurableUpdatesTests: Sendable {
    private static let identifier = "com.example.audit"

    private let audit = Characteristic<UInt8>(
        "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.notify, .indicate],
        updates: .durable(beyond: 4)
    )
    private let store = InMemoryRestorationStore()
    private let backend = InMemoryBackend()

    private func run<Output: Sendable>(
        from store: InMemoryRestorationStore? = nil,
        _ body: @escaping @Sendable (VirtualCentral, PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let peripheral = Peripheral("Audit", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { audit }
        }
        return try await peripheral.run(
            on: backend,
            restoringFrom: store ?? self.store,
            savingEvery: .zero,
            logger: .silent
        ) { [backend] session in
            try await body(backend.makeCentral(of: peripheral), session)
        }
    }

    /// A central that is bonded, has subscribed, and is away.
    private func away(_ central: VirtualCentral, _ session: PeripheralSession) async throws {
        try await central.connect()
        try await central.pair(.justWorks)
        try await central.subscribe(to: audit)
        var events = session.events.makeAsyncIterator()
        central.disconnect()
        while let event = try await events.next() {
            if case .disconnected = event { return }
        }
    }

    @Test(arguments: [UpdateKind.notification, .indication])
    func whoIsThereGetsItAtOnce(kind: UpdateKind) async throws {
        try await run { [self] central, session in
            try await central.connect()
            try await central.subscribe(to: audit, for: kind)
            try await session.notify(audit, 1)
            #expect(try session.update(audit, 2))
            #expect(try await central.nextUpdate(of: audit) == 1)
            #expect(try await central.nextUpdate(of: audit) == 2)
        }
    }

    @Test func whoIsAwayGetsItOnReturn() async throws {
        try await run { [self] central, session in
            try await away(central, session)
            for value in 1...3 as ClosedRange<UInt8> { try await session.notify(audit, value) }
            try await central.connect()
            for value in 1...3 as ClosedRange<UInt8> {
                #expect(try await central.nextUpdate(of: audit) == value)
            }
        }
    }

    @Test func aKillLosesNothing() async throws {
        let (central, left) = try await run { [self] central, session in
            try await away(central, session)
            for value in 1...3 as ClosedRange<UInt8> { try await session.notify(audit, value) }
            return (central, store.snapshot())
        }
        try await run(from: left) { [self] _, session in
            try await session.notify(audit, 4)
            try await central.connect()
            try await central.subscribe(to: audit)
            for value in 1...4 as ClosedRange<UInt8> {
                #expect(try await central.nextUpdate(of: audit) == value)
            }
        }
    }

    @Test func noMoreAreKeptThanDeclared() async throws {
        try await run { [self] central, session in
            try await away(central, session)
            for value in 1...4 as ClosedRange<UInt8> { #expect(try session.update(audit, value)) }
            #expect(try !session.update(audit, 5))
            let error = await #expect(throws: PeripheralError.self) { try await session.notify(audit, 5) }
            #expect(error?.code == .queueFull)
        }
    }

    @Test func nothingIsKeptForNobody() async throws {
        try await run { [self] central, session in
            for value in 1...9 as ClosedRange<UInt8> { try await session.notify(audit, value) }
            try await central.connect()
            try await central.subscribe(to: audit)
            try await session.notify(audit, 10)
            #expect(try await central.nextUpdate(of: audit) == 10)
        }
    }
}
