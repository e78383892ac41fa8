import PeripheralCore
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

/// What a durable write brings about: it is preserved by the save that has the value, and is sent after it.
@Suite(.timeLimit(.minutes(1)))
final class DurableWritesTests: Sendable {
    private static let identifier = "com.example.lock"
    private static let full = RestorationError(code: .unwritable, message: "The disk is full.")

    private let counter = Characteristic<UInt8>(0x2A1A, [.read, .write, .notify], updates: .durable) {
        PersistentValue(initially: 0, writes: .durable)
    }
    private let lamp = Characteristic<UInt8>(0x2A1B, [.read, .write, .notify]) {
        PersistentValue(initially: 0, writes: .durable)
    }
    private let few = Characteristic<UInt8>(
        0x2A1C,
        [.read, .write, .indicate],
        updates: .durable(beyond: 1)
    ) {
        PersistentValue(initially: 0, writes: .durable)
    }
    private let audit: Characteristic<UInt8>
    private let lock: Characteristic<UInt8>
    private let store = InMemoryRestorationStore()
    private let backend = InMemoryBackend(as: .specification)

    init() {
        let audit = Characteristic<UInt8>(0x2A1D, .notify, updates: .durable)
        self.audit = audit
        lock = Characteristic(0x2A1E, [.read, .write]) {
            PersistentValue(initially: 0, writes: .durable) { value, _, _, updates in
                try updates.append(audit, value)
                if value == 13 { throw ATTError.valueNotAllowed }
                try updates.append(audit, value + 100)
            }
        }
    }

    /// Runs it with a clock that stands still: but for the first time, nothing is saved before it is moved.
    private func run<Output: Sendable>(
        savingEvery interval: Duration = .seconds(3600),
        clock: any Clock<Duration> = ManualClock(),
        _ body: @escaping @Sendable (VirtualCentral, PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let peripheral = Peripheral("Lock", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(.battery) {
                counter
                lamp
                few
                audit
                lock
            }
        }
        return try await peripheral.run(
            on: backend,
            restoringFrom: store,
            savingEvery: interval,
            logger: .silent,
            clock: clock
        ) { [backend] session in
            try await body(backend.makeCentral(of: peripheral), session)
        }
    }

    /// Has a central that is bonded subscribe, and go away.
    private func away(
        _ central: VirtualCentral,
        _ session: PeripheralSession,
        from characteristic: Characteristic<UInt8>
    ) async throws {
        try await central.connect()
        try await central.pair(.justWorks)
        try await central.subscribe(to: characteristic)
        var events = session.events.makeAsyncIterator()
        central.disconnect()
        while let event = try await events.next() {
            if case .disconnected = event { return }
        }
    }

    private func preserved() throws -> PreservedState {
        try PreservedState(decoding: try #require(store[Self.identifier]))
    }

    private func value(of characteristic: Characteristic<UInt8>, in state: PreservedState) -> [UInt8]? {
        state.database.table.attributes.first { $0.type == characteristic.uuid }
            .flatMap { state.values[$0.handle] }
    }

    @Test func itsUpdateIsPreservedWhenAWriteIsAnswered() async throws {
        try await run { [self] central, session in
            try await away(central, session, from: counter)
            let writer = central.makeAnother()
            try await writer.connect()
            try await writer.write(counter, 7)
            let state = try preserved()
            #expect(value(of: counter, in: state) == [7])
            #expect(state.updates.map(\.value) == [[7]])
        }
    }

    @Test func whatItsHandlerAddsIsPreservedWhenAWriteIsAnswered() async throws {
        try await run { [self] central, session in
            try await away(central, session, from: audit)
            let writer = central.makeAnother()
            try await writer.connect()
            try await writer.write(lock, 7)
            let state = try preserved()
            #expect(value(of: lock, in: state) == [7])
            #expect(state.updates.map(\.value) == [[7], [107]])
        }
    }

    @Test func aHandlerThatRefusesSendsNothing() async throws {
        try await run(savingEvery: .zero) { [self] central, _ in
            try await central.connect()
            try await central.subscribe(to: audit)
            await #expect(throws: ATTError.valueNotAllowed) { try await central.write(lock, 13) }
            try await central.write(lock, 7)
            #expect(try await central.nextUpdate(of: audit) == 7)
            #expect(try await central.nextUpdate(of: audit) == 107)
        }
    }

    @Test func whatIsSetIsSavedWithItsUpdate() async throws {
        let change = try await run { [self] central, session in
            try await away(central, session, from: counter)
            let change = Task { [counter] in try await session.set(counter, to: 7) }
            try await until { store[Self.identifier] != nil }
            let state = try preserved()
            #expect(value(of: counter, in: state) == [7])
            #expect(state.updates.map(\.value) == [[7]])
            return change
        }
        try await change.value
    }

    @Test func nothingIsSentBeforeItIsSaved() async throws {
        let clock = ManualClock()
        try await run(clock: clock) { [self] central, session in
            try await central.connect()
            try await central.subscribe(to: counter)
            try await session.preserve()
            let writer = central.makeAnother()
            try await writer.connect()
            async let written: Void = writer.write(counter, 7)
            // Every opportunity to be sent.
            try await until { (try? session.value(of: counter)) == 7 }
            for _ in 0..<100 { await Task.yield() }
            #expect(
                session.updateTotals.allSatisfy {
                    $0.counters.sent + $0.counters.inFlight + $0.counters.queued == 0
                }
            )
            clock.advance(by: .milliseconds(500))
            try await written
            #expect(try await central.nextUpdate(of: counter) == 7)
        }
    }

    /// However seldom it saves otherwise, for the sake of flash memory.
    @Test func aWriteIsAnsweredInTime() async throws {
        let clock = ManualClock()
        try await run(clock: clock) { [self] central, session in
            try await central.connect()
            try await session.preserve()
            async let written: Void = central.write(lamp, 7)
            clock.advance(by: .milliseconds(500))
            try await written
            #expect(value(of: lamp, in: try preserved()) == [7])
        }
    }

    @Test(arguments: [false, true]) func othersHearOfAValueThatCouldNotBeSavedAtFirst(isDurable: Bool)
        async throws
    {
        let characteristic = isDurable ? counter : lamp
        try await run(savingEvery: .zero, clock: ContinuousClock()) { [self] central, session in
            try await central.connect()
            try await central.subscribe(to: characteristic)
            let writer = central.makeAnother()
            try await writer.connect()
            store.saveError = Self.full
            await #expect(throws: ATTError.unlikelyError) { try await writer.write(characteristic, 5) }
            await #expect(throws: RestorationError.self) { try await session.set(characteristic, to: 6) }
            #expect(try await writer.read(characteristic) == 6)
            store.saveError = nil
            try await session.preserve()
            #expect(try await central.nextUpdate(of: characteristic) == 5)
            #expect(try await central.nextUpdate(of: characteristic) == 6)
        }
    }

    /// There is a limit to what is kept of a characteristic that is not durable.
    @Test func othersHearOfTheLastOfManyValues() async throws {
        try await run(savingEvery: .zero, clock: ContinuousClock()) { [self] central, session in
            try await central.connect()
            try await central.subscribe(to: lamp)
            let writer = central.makeAnother()
            try await writer.connect()
            store.saveError = Self.full
            for value in 1...20 as ClosedRange<UInt8> {
                await #expect(throws: ATTError.unlikelyError) { try await writer.write(lamp, value) }
            }
            store.saveError = nil
            try await session.preserve()
            for value in 5...20 as ClosedRange<UInt8> {
                #expect(try await central.nextUpdate(of: lamp) == value)
            }
        }
    }

    /// An update that waits to be saved takes the room of the next update.
    ///
    /// The next update fails at once, and does not wait.
    @Test func aStoreThatFailsHoldsUpNobody() async throws {
        try await run(savingEvery: .zero, clock: ContinuousClock()) { [self] central, session in
            try await central.connect()
            try await central.subscribe(to: few, for: .indication)
            let writer = central.makeAnother()
            try await writer.connect()
            store.saveError = Self.full
            await #expect(throws: ATTError.unlikelyError) { try await writer.write(few, 1) }
            await #expect(throws: RestorationError.self) { try await session.set(few, to: 2) }
            await #expect(throws: RestorationError.self) { try await session.notify(few, 3) }
            #expect(try session.value(of: few) == 1)
            store.saveError = nil
            try await session.set(few, to: 4)
            #expect(try await central.nextUpdate(of: few) == 1)
            #expect(try await central.nextUpdate(of: few) == 4)
        }
    }

    @Test func aValueIsNotSetBeforeThereIsRoomForItsUpdate() async throws {
        try await run(savingEvery: .zero) { [self] central, session in
            try await central.connect()
            central.setConfirmsIndications(false)
            try await central.subscribe(to: few, for: .indication)
            try await session.set(few, to: 1)
            async let change: Void = session.set(few, to: 2)
            for _ in 0..<100 { await Task.yield() }
            #expect(try session.value(of: few) == 1)
            central.setConfirmsIndications(true)
            try await change
            #expect(try await central.nextUpdate(of: few) == 1)
            #expect(try await central.nextUpdate(of: few) == 2)
        }
    }
}
