import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// A service that listens before the program does, and takes nothing from it.
private struct ListeningService: GATTServiceDeclaration {
    let isOn: Characteristic<Bool>

    var service: GATTService { GATTService(.battery) { isOn } }

    func run(in session: PeripheralSession) async throws {
        for await _ in session.events {}
    }
}

/// A problem is reported whenever it happens, and delays nothing.
@Suite(.timeLimit(.minutes(1)))
final class RestorationFailureTests: Sendable {
    private static let identifier = "com.example.lamp"
    private static let full = RestorationError(code: .unwritable, message: "The disk is full.")

    private let isOn = Characteristic<Bool>(0x2A1A, [.read, .write, .notify]) {
        PersistentValue(initially: true, writes: .durable)
    }
    private let store = InMemoryRestorationStore()
    private let backend = InMemoryBackend()

    private func run<Output: Sendable>(
        from store: (any RestorationStore)? = nil,
        on other: InMemoryBackend? = nil,
        logger: LogRecorder = LogRecorder(),
        _ body: @escaping @Sendable (VirtualCentral, PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let backend = other ?? backend
        let peripheral = Peripheral("Lamp", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            ListeningService(isOn: isOn)
        }
        return try await peripheral.run(
            on: backend,
            restoringFrom: store ?? self.store,
            savingEvery: .zero,
            logger: logger.logger
        ) { session in
            try await body(backend.makeCentral(of: peripheral), session)
        }
    }

    @Test func whatCannotBeRestoredIsLoggedAndTold() async throws {
        store.loadError = RestorationError(code: .damaged, message: "It is torn.")
        let log = LogRecorder()
        try await run(logger: log) { _, session in
            var events = session.events.makeAsyncIterator()
            guard case .restorationFailed(let problem) = try await events.next() else {
                Issue.record("it is not told first")
                return
            }
            #expect(problem.operation == .restore && problem.error.code == .damaged)
            #expect(session.restored?.problems == [problem])
        }
        #expect(log.lines.contains { $0.hasPrefix("warning") && $0.contains("It is torn.") })
    }

    /// It is kept apart, each time, for the version that can read it.
    @Test func whatANewerVersionHasSavedIsKeptForIt() async throws {
        try await run { _, session in try await session.preserve() }
        var restorationState = try #require(store[Self.identifier])
        restorationState["peripheral"]?["version"] = "2.0"
        store[Self.identifier] = restorationState
        try await run { _, session in
            #expect(session.restored?.isEmpty == true)
            let problem = try #require(session.restored?.problems.first)
            #expect(problem.operation == .restore && problem.error.code == .newerVersion)
            #expect(problem.setAside != nil)
        }
        #expect(store.state(of: Self.identifier, setAsideForVersion: 2) == restorationState)
        #expect(store.statesSetAside(of: Self.identifier).isEmpty)
        try await run { _, session in #expect(session.restored?.problems.isEmpty == true) }
    }

    /// Once each time, and not for each attempt.
    @Test func eachTimeThatTheStoreFailsIsLogged() async throws {
        let log = LogRecorder()
        try await run(logger: log) { [store, isOn] _, session in
            for value in [false, true] {
                store.saveError = Self.full
                for _ in 0..<2 {
                    await #expect(throws: RestorationError.self) { try await session.set(isOn, to: value) }
                }
                store.saveError = nil
                try await session.preserve()
            }
        }
        #expect(log.lines.count { $0.contains("cannot be saved") } == 2)
    }

    /// The handles of the services in the damaged state are unknown.
    @Test func whatCannotBeRestoredMayLeaveWrongCaches() async throws {
        try await run { _, session in try await session.preserve() }
        store.loadError = RestorationError(code: .damaged, message: "It is torn.")
        try await run { _, session in
            #expect(session.restored?.isEmpty == true)
            #expect(session.restored?.changes.isEmpty == true)
            #expect(session.restored?.changes.invalidatesCaches == true)
        }
    }

    @Test func whatIsDamagedInMemoryIsNotListed() async throws {
        try await run { _, session in try await session.preserve() }
        #expect(try await store.identifiers() == [Self.identifier])
        store.loadError = RestorationError(code: .damaged, message: "It is torn.")
        #expect(try await store.identifiers().isEmpty)
        store.loadError = nil
        #expect(try await store.identifiers() == [Self.identifier])
    }

    @Test func aBondThatIsGoneIsToldToWhoListensFirst() async throws {
        try await run { [isOn] central, _ in
            try await central.connect()
            try await central.pair(.justWorks)
            try await central.subscribe(to: isOn)
        }
        try await run(on: InMemoryBackend()) { _, session in
            var events = session.events.makeAsyncIterator()
            guard case .restoredSubscriberChanged(let subscriber) = try await events.next() else {
                Issue.record("it is not told first")
                return
            }
            #expect(subscriber.status == .mustSubscribeAgain)
        }
    }

    @Test func nobodyWaitsForAPeripheralThatHasEnded() async throws {
        let session = try await run { [store, isOn] _, session in
            store.saveError = Self.full
            // So that something is left to save.
            await #expect(throws: RestorationError.self) { try await session.set(isOn, to: false) }
            return session
        }
        let error = await #expect(throws: RestorationError.self) { try await session.preserve() }
        #expect(error?.code == .closed)
    }

    @Test func whatMayHaveBeenSavedIsSavedAgain() async throws {
        let store = DoubtfulStore()
        try await run(from: store) { [isOn] _, session in
            try await session.preserve()
            store.isDoubtful.store(true, ordering: .sequentiallyConsistent)
            await #expect(throws: RestorationError.self) { try await session.set(isOn, to: false) }
            store.isDoubtful.store(false, ordering: .sequentiallyConsistent)
            // As it was when it was saved last without doubt.
            try await session.set(isOn, to: true)
            let restorationState = try #require(store.memory[Self.identifier])
            #expect(try Array(PreservedState(decoding: restorationState).values.values) == [[1]])
        }
    }
}

/// A store that may say it has not saved what it has.
private final class DoubtfulStore: RestorationStore {
    private struct Record: RestorationRecord {
        let record: any RestorationRecord
        let store: DoubtfulStore

        func load() async throws(RestorationError) -> RestorationState? { try await record.load() }

        func save(_ restorationState: RestorationState) async throws(RestorationError) {
            try await record.save(restorationState)
            guard !store.isDoubtful.load(ordering: .sequentiallyConsistent) else {
                throw RestorationError(code: .unwritable, message: "The disk does not answer.")
            }
        }

        func setAside() async throws(RestorationError) -> String? { try await record.setAside() }

        func erase() async throws(RestorationError) { try await record.erase() }

        func close() async { await record.close() }
    }

    let memory = InMemoryRestorationStore()
    let isDoubtful = Atomic<Bool>(false)

    func identifiers() async throws(RestorationError) -> [String] { try await memory.identifiers() }

    func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord {
        Record(record: try await memory.open(identifier), store: self)
    }
}
