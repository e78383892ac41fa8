import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// What a peripheral finds again when it runs again, on a stack in memory that goes on running.
@Suite(.timeLimit(.minutes(1)))
final class RestorationTests: Sendable {
    private static let identifier = "com.example.door"
    private static let service: BluetoothUUID = "5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let added: BluetoothUUID = "5c3a0021-7e3c-4b6e-9d29-b3f1c0a1d001"

    private let isLocked = Characteristic<Bool>(
        "5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .write, .notify],
        security: .encrypted
    ) {
        PersistentValue(initially: true, writes: .durable)
    }
    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 7 } }
    private let store = InMemoryRestorationStore()
    private let restored = Mutex<[RestoredState]>([])
    private let backend = InMemoryBackend()

    private func door(identifier: String? = identifier) -> Peripheral {
        Peripheral("Door", restorationIdentifier: identifier, pairing: .justWorks) {
            GATTService(Self.service) { isLocked }
            GATTService(.battery) { level }
        } onRestore: { [self] state in
            restored.withLock { $0.append(state) }
        }
    }

    private func run<Output: Sendable>(
        _ peripheral: Peripheral,
        from store: InMemoryRestorationStore? = nil,
        _ body: @escaping @Sendable (VirtualCentral, PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await peripheral.run(
            on: backend,
            restoringFrom: store ?? self.store,
            savingEvery: .zero,
            logger: .silent
        ) { [backend] session in
            let central = backend.makeCentral(of: peripheral)
            return try await body(central, session)
        }
    }

    @Test func nothingIsRestoredAtFirst() async throws {
        try await run(door()) { _, session in #expect(session.restored == nil) }
        #expect(restored.withLock(\.count) == 0)
        // Once, or twice where the run took the time to.
        #expect(store.saveCount > 0)
    }

    @Test func whatWasPublishedIsRestored() async throws {
        let advertisement = Advertisement(localName: "Open", manufacturerData: [0x59: [1]])
        let handle = try await run(door()) { [isLocked] _, session in
            try await session.advertise(advertisement)
            return try session.handle(of: isLocked)
        }
        try await run(door()) { [isLocked] _, session in
            let restored = try #require(session.restored)
            #expect(restored.name == "Door")
            #expect(restored.adapter != nil)
            #expect(restored.services.map(\.uuid) == [Self.service, .battery])
            #expect(restored.services[0].characteristics[0].security == .encrypted)
            #expect(restored.advertisements == [advertisement])
            #expect(restored.handle(of: isLocked) == handle)
            #expect(try session.handle(of: isLocked) == handle)
            #expect(restored.changes.isEmpty && !restored.changes.invalidatesCaches)
            #expect(restored.problems.isEmpty)
        }
        #expect(restored.withLock(\.count) == 1)
    }

    @Test func aPersistentValueIsKept() async throws {
        try await run(door()) { [isLocked] central, session in
            try await central.connect()
            try await central.pair(.justWorks)
            #expect(try await central.read(isLocked) == true)
            try await central.write(isLocked, false)
            #expect(try session.value(of: isLocked) == false)
        }
        try await run(door()) { [self] _, session in
            let known = restored.withLock(\.last)
            #expect(try known?.value(of: isLocked) == false)
            #expect(try session.value(of: isLocked) == false)
            try await session.set(isLocked, to: true)
        }
        try await run(door()) { [isLocked] _, session async throws in
            #expect(try session.value(of: isLocked))
        }
    }

    @Test func whatIsDurableSurvivesAKill() async throws {
        let atThatInstant = try await run(door()) { [isLocked, store] central, _ in
            try await central.connect()
            try await central.pair(.justWorks)
            try await central.write(isLocked, false)
            return store.snapshot()
        }
        try await run(door(), from: atThatInstant) { [isLocked] _, session async throws in
            #expect(try session.value(of: isLocked) == false)
        }
    }

    @Test func aNewServiceMovesNothing() async throws {
        let extra = Characteristic<UInt8>(0x2A1A, value: 1)
        let before = try await run(door()) { [isLocked, level] _, session in
            [try session.handle(of: isLocked), try session.handle(of: level)]
        }
        let peripheral = Peripheral("Door", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(Self.added) { extra }
            GATTService(Self.service) { isLocked }
            GATTService(.battery) { level }
        }
        try await run(peripheral) { [isLocked, level] _, session in
            #expect([try session.handle(of: isLocked), try session.handle(of: level)] == before)
            let changes = try #require(session.restored?.changes)
            #expect(changes.added.map(\.description) == ["service \(Self.added)"])
            #expect(changes.removed.isEmpty && changes.changed.isEmpty && changes.moved.isEmpty)
            #expect(changes.invalidatesCaches)
            let handle = try #require(try session.handle(of: extra))
            #expect(handle > before.compactMap(\.self).max() ?? 0)
        }
    }

    @Test func aBondedSubscriberIsExpectedAndReturns() async throws {
        let known = try await run(door()) { [isLocked] central, _ in
            try await central.connect()
            try await central.pair(.justWorks)
            try await central.subscribe(to: isLocked)
            central.disconnect()
            return central
        }
        try await run(door()) { [isLocked] _, session in
            let subscriber = try #require(session.restored?.subscribers.first)
            #expect(subscriber.status == .expected && subscriber.central.isBonded)
            #expect(subscriber.hasSubscribed(to: isLocked) && subscriber.kind == .notification)
            var events = session.events.makeAsyncIterator()
            try await known.connect()
            try await known.subscribe(to: isLocked)
            while let event = try await events.next() {
                guard case .restoredSubscriberChanged(let changed) = event else { continue }
                guard changed.status == .subscribed else {
                    // It is back.
                    #expect(changed.status == .mustSubscribeAgain)
                    continue
                }
                #expect(changed.since == subscriber.since)
                break
            }
            #expect(session.restored?.subscribers.map(\.status) == [.subscribed])
            try await session.set(isLocked, to: false)
            #expect(try await known.nextUpdate(of: isLocked) == false)
        }
    }

    @Test func aTemporarySubscriberMustSubscribeAgain() async throws {
        try await run(door()) { [level] central, _ in
            try await central.connect()
            try await central.subscribe(to: level)
        }
        try await run(door()) { [level] _, session in
            let subscriber = try #require(session.restored?.subscribers.first)
            #expect(subscriber.status == .mustSubscribeAgain && !subscriber.central.isBonded)
            #expect(subscriber.hasSubscribed(to: level))
        }
    }

    @Test func whatIsDamagedIsSetAside() async throws {
        var restorationState = RestorationState()
        restorationState.append(RestorationState.Group("peripheral"))
        store[Self.identifier] = restorationState
        try await run(door()) { _, session in
            let problem = try #require(session.restored?.problems.first)
            #expect(problem.operation == .restore && problem.error.code == .damaged)
            #expect(problem.setAside != nil)
            #expect(session.restored?.isEmpty == true)
            try await session.preserve()
        }
        #expect(store.statesSetAside(of: Self.identifier) == [restorationState])
        #expect(store[Self.identifier] != nil)
    }

    @Test func aStoreThatFailsIsTold() async throws {
        store.saveError = RestorationError(code: .unwritable, message: "The disk is full.")
        try await run(door()) { [isLocked, store] central, session in
            var events = session.events.makeAsyncIterator()
            try await central.connect()
            try await central.pair(.justWorks)
            await #expect(throws: ATTError.unlikelyError) { try await central.write(isLocked, false) }
            while let event = try await events.next() {
                if case .restorationFailed(let problem) = event {
                    #expect(problem.error.code == .unwritable)
                    break
                }
            }
            #expect(session.restorationStatistics.failures > 0)
            store.saveError = nil
            try await session.preserve()
            #expect(session.restorationStatistics.saves == 1)
        }
    }

    @Test func anIdentifierHasOnePeripheral() async throws {
        try await run(door()) { [self] _, _ in
            let error = await #expect(throws: RestorationError.self) {
                try await door().run(on: InMemoryBackend(), restoringFrom: store, logger: .silent) { _ in }
            }
            #expect(error?.code == .inUse)
        }
    }

    @Test func anIdentifierNeedsAStore() async throws {
        let backend = ScriptedBackend { _, _ in Issue.record("it is served") }
        let error = await #expect(throws: PeripheralError.self) {
            try await door().run(on: backend, logger: .silent) { _ in }
        }
        #expect(error?.code == .restorationUnavailable)
        let other = await #expect(throws: PeripheralError.self) {
            try await door(identifier: nil).run(on: backend, restoringFrom: store, logger: .silent) { _ in }
        }
        #expect(other?.code == .restorationUnavailable)
    }

    @Test func withoutAnIdentifierNothingIsPreserved() async throws {
        try await door(identifier: nil).run(on: backend, logger: .silent) { session in
            let error = await #expect(throws: PeripheralError.self) { try await session.preserve() }
            #expect(error?.code == .restorationUnavailable)
            #expect(
                error?.message
                    == "The state of the peripheral cannot be preserved, because it has no restoration identifier. "
                    + "Declare an identifier with Peripheral(_:restorationIdentifier:)."
            )
        }
    }

    @Test func whatOnRestoreThrowsEndsTheRun() async throws {
        try await run(door()) { _, session in try await session.preserve() }
        struct Refusal: Error {}
        let peripheral = Peripheral("Door", restorationIdentifier: Self.identifier) {
            GATTService(.battery) { level }
        } onRestore: { _ in
            throw Refusal()
        }
        let log = LogRecorder()
        await #expect(throws: Refusal.self) {
            try await peripheral.run(on: backend, restoringFrom: store, logger: log.logger) { _ in
                Issue.record("it is served")
            }
        }
        #expect(
            log.lines == [
                "error: The closure onRestore threw an error. The run ends with this error, and publishes nothing. "
                    + "[Refusal(); Door]"
            ]
        )
        // The identifier is free again.
        try await run(door()) { _, session in #expect(session.restored != nil) }
    }

    @Test func anUnchangedStateIsNotSavedAgain() async throws {
        try await run(door()) { _, session in try await session.preserve() }
        let count = store.saveCount
        try await run(door()) { _, session in try await session.preserve() }
        #expect(store.saveCount == count)
    }
}
