import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// A store that cannot be opened or read when the peripheral begins costs nothing that is in it.
@Suite(.timeLimit(.minutes(1)))
final class LateStoreTests: Sendable {
    private static let identifier = "com.example.lamp"

    private let isOn = Characteristic<Bool>(0x2A1A, [.read, .write, .notify]) {
        PersistentValue(initially: true, writes: .durable)
    }
    private let store = LateStore()
    private let clock = ManualClock()
    private let log = LogRecorder()
    private let wasTold = Mutex(false)

    private func run(
        _ body: @escaping @Sendable (PeripheralSession) async throws -> Void = { _ in },
        onRestore: (@Sendable (RestoredState) async throws -> Void)? = nil
    ) async throws {
        let peripheral = Peripheral("Lamp", restorationIdentifier: Self.identifier) {
            GATTService(.battery) { isOn }
        } onRestore: { restored in
            try await onRestore?(restored)
        }
        try await peripheral.run(
            on: InMemoryBackend(),
            restoringFrom: store,
            savingEvery: .zero,
            logger: log.logger,
            clock: clock,
            body
        )
    }

    /// Has a run preserve that the lamp is off.
    private func preserveOff() async throws -> RestorationState {
        store.opens()
        try await run { [isOn] session in try await session.set(isOn, to: false) }
        store.closes()
        return try #require(store.memory[Self.identifier])
    }

    /// Lets the time pass that the peripheral waits before it begins.
    private func passTheWait() async {
        for _ in 0..<20 {
            await clock.waitForSleeper()
            clock.advance(by: .milliseconds(250))
        }
    }

    /// Opens the store, and lets time pass until the run has opened it.
    ///
    /// Returns the problems that the session reports, except `unwritable` and `unreadable`. Waits for a save,
    /// unless a problem has the operation `open`.
    private func untilOpened(_ session: PeripheralSession) async throws -> [RestorationProblem] {
        let saves = store.memory.saveCount
        store.opens()
        var problems: [RestorationProblem] = []
        var events = session.events.makeAsyncIterator()
        try await until {
            clock.advance(by: .seconds(1))
            return store.openCount > 0
        }
        // The last of these events describes the outcome for the record.
        while let event = try? await events.next() {
            guard case .restorationFailed(let problem) = event, problem.error.code != .unwritable,
                problem.error.code != .unreadable
            else {
                continue
            }
            problems.append(problem)
            if problem.operation == .open { return problems }
            break
        }
        await store.memory.waitForSaves(saves + 1)
        return problems
    }

    @Test(arguments: LateStore.Failure.allCases)
    fileprivate func whatCanBeOpenedInTimeIsRestored(failure: LateStore.Failure) async throws {
        store.fails(failure)
        _ = try await preserveOff()
        async let ended: Void = run { [isOn, log] session in
            let value = try session.value(of: isOn)
            #expect(value == false)
            #expect(session.restored?.problems.isEmpty == true)
            #expect(log.lines.contains { $0.hasPrefix("notice") && $0.contains("The disk is full.") })
        }
        await clock.waitForSleeper()
        clock.advance(by: .seconds(4))
        await clock.waitForSleeper()
        store.opens()
        clock.advance(by: .milliseconds(250))
        try await ended
        #expect(store.memory.statesSetAside(of: Self.identifier).isEmpty)
        #expect(log.lines.count { $0.contains("The disk is full.") } == 1)
    }

    @Test(arguments: LateStore.Failure.allCases)
    fileprivate func itIsWaitedForFiveSecondsAndNoLonger(failure: LateStore.Failure) async throws {
        store.fails(failure)
        async let ended: Void = run { session in
            let problems = session.restored?.problems ?? []
            #expect(problems.map(\.operation) == [.open])
        }
        await passTheWait()
        try await ended
    }

    @Test func nobodyWaitsWhoIsCancelled() async throws {
        await withThrowingTaskGroup { group in
            group.addTask {
                try await self.run(onRestore: { [self] _ in wasTold.withLock { $0 = true } })
            }
            await clock.waitForSleeper()
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
        #expect(wasTold.withLock { !$0 })
    }

    /// It is as it was, whatever the run does, and the next one begins with it.
    @Test(arguments: LateStore.Failure.allCases)
    fileprivate func whatCanBeOpenedLaterWaitsForTheNextRun(failure: LateStore.Failure) async throws {
        store.fails(failure)
        let restorationState = try await preserveOff()
        async let ended: Void = run { [self] session in
            let value = try session.value(of: isOn)
            #expect(value == true)
            let problems = try await untilOpened(session)
            #expect(problems.map(\.operation) == [.open])
            #expect(problems.map(\.error.code) == [.openedLate])
            let error = await #expect(throws: RestorationError.self) { try await session.set(isOn, to: true) }
            #expect(error?.code == .openedLate)
            await #expect(throws: RestorationError.self) { try await session.preserve() }
            // Two processes never share an identifier.
            let other = await #expect(throws: RestorationError.self) {
                _ = try await store.memory.open(Self.identifier)
            }
            #expect(other?.code == .inUse)
        }
        await passTheWait()
        try await ended
        #expect(store.memory[Self.identifier] == restorationState)
        #expect(store.memory.statesSetAside(of: Self.identifier).isEmpty)
        #expect(
            log.lines.contains {
                $0.hasPrefix("warning") && $0.contains("It stays as it is for the next run")
            }
        )
        try await run { [isOn] session in
            let value = try session.value(of: isOn)
            #expect(value == false)
            #expect(session.restored?.problems.isEmpty == true)
        }
    }

    @Test(arguments: LateStore.Failure.allCases)
    fileprivate func whatCanBeOpenedAtTheEndWaitsForTheNextRun(failure: LateStore.Failure) async throws {
        store.fails(failure)
        let restorationState = try await preserveOff()
        async let ended: Void = run { [store] _ in store.opens() }
        await passTheWait()
        try await ended
        #expect(store.memory[Self.identifier] == restorationState)
        #expect(store.memory.statesSetAside(of: Self.identifier).isEmpty)
    }

    @Test(arguments: LateStore.Failure.allCases)
    fileprivate func anEmptyStoreThatOpensLaterIsUsed(failure: LateStore.Failure) async throws {
        store.fails(failure)
        async let ended: Void = run { [self] session in
            store.opens()
            try await until {
                clock.advance(by: .seconds(1))
                return store.openCount > 0
            }
            await store.memory.waitForSaves(1)
            try await session.set(isOn, to: false)
        }
        await passTheWait()
        try await ended
        let restorationState = try #require(store.memory[Self.identifier])
        #expect(try Array(PreservedState(decoding: restorationState).values.values) == [[0]])
    }

    /// No run of this version could begin with these; they make way for what can be saved.
    @Test(arguments: [RestorationError.Code.damaged, .newerVersion])
    func whatCannotBeReadLaterIsSetAside(code: RestorationError.Code) async throws {
        var restorationState = try await preserveOff()
        restorationState["peripheral"]?["version"] = code == .newerVersion ? "2.0" : "none"
        store.memory[Self.identifier] = restorationState
        async let ended: Void = run { [self] session in
            let problems = try await untilOpened(session)
            #expect(problems.map(\.operation) == [.restore])
            #expect(problems.map(\.error.code) == [code])
            #expect(problems.allSatisfy { $0.setAside != nil })
            try await session.set(isOn, to: false)
        }
        await passTheWait()
        try await ended
        let aside = store.memory.statesSetAside(of: Self.identifier)
        let kept = store.memory.state(of: Self.identifier, setAsideForVersion: 2)
        #expect(aside == (code == .damaged ? [restorationState] : []))
        #expect(kept == (code == .newerVersion ? restorationState : nil))
        let saved = try #require(store.memory[Self.identifier])
        #expect(try Array(PreservedState(decoding: saved).values.values) == [[0]])
    }
}

/// A store on a disk that is full until it is not.
private final class LateStore: RestorationStore {
    /// What the disk refuses.
    enum Failure: CaseIterable {
        case opening, reading
    }

    private struct State {
        var isOpen = false
        var openCount = 0
        var failure = Failure.opening
    }

    let memory = InMemoryRestorationStore()
    private let state = Mutex(State())

    /// How often it has been opened since it can be.
    var openCount: Int { state.withLock(\.openCount) }

    func fails(_ failure: Failure) {
        state.withLock { $0.failure = failure }
    }

    func opens() {
        state.withLock { $0 = State(isOpen: true, failure: $0.failure) }
    }

    func closes() {
        state.withLock { $0 = State(failure: $0.failure) }
    }

    func identifiers() async throws(RestorationError) -> [String] { try await memory.identifiers() }

    func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord {
        let (isOpen, failure) = state.withLock { state in
            if state.isOpen { state.openCount += 1 }
            return (state.isOpen, state.failure)
        }
        guard isOpen || failure == .reading else {
            throw RestorationError(code: .unwritable, message: "The disk is full.")
        }
        return LateRecord(record: try await memory.open(identifier)) { self.state.withLock(\.isOpen) }
    }
}

/// A record that cannot be read until it can.
private struct LateRecord: RestorationRecord {
    let record: any RestorationRecord
    let isReadable: @Sendable () -> Bool

    func load() async throws(RestorationError) -> RestorationState? {
        guard isReadable() else {
            throw RestorationError(code: .unreadable, message: "The disk is full.")
        }
        return try await record.load()
    }

    func save(_ restorationState: RestorationState) async throws(RestorationError) {
        try await record.save(restorationState)
    }

    func setAside() async throws(RestorationError) -> String? { try await record.setAside() }

    func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try await record.setAside(forVersion: version)
    }

    func erase() async throws(RestorationError) { try await record.erase() }

    func close() async { await record.close() }
}
