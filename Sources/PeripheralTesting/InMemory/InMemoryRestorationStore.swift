public import PeripheralKit
private import Synchronization

/// A store that preserves the state of peripherals in memory, for tests.
///
/// The store meets the requirements of `RestorationStore`, but the state does not survive the end of the
/// process.
///
/// A test can stop a peripheral, and start the peripheral again with the same store. A test can also simulate
/// a program that was killed during a run. To simulate the end of the program, take a ``snapshot()`` of the
/// store during the run, and later start the peripheral with the snapshot.
public final class InMemoryRestorationStore: RestorationStore {
    fileprivate typealias Identifier = [UInt8]

    fileprivate struct State {
        var saved: [Identifier: RestorationState] = [:]
        var setAside: [Identifier: [RestorationState]] = [:]
        var ofNewerVersions: [Identifier: [Int: RestorationState]] = [:]
        var open: Set<Identifier> = []
        var saveCount = 0
        var loadError: RestorationError?
        var saveError: RestorationError?
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    fileprivate let state: Mutex<State>

    /// Creates an empty store.
    public init() {
        state = Mutex(State())
    }

    private init(saved: [Identifier: RestorationState]) {
        state = Mutex(State(saved: saved))
    }

    /// The number of saves since the creation of the store.
    public var saveCount: Int { state.withLock { $0.saveCount } }

    /// The simulated error of each call to `RestorationRecord.load()`.
    ///
    /// The error occurs for all identifiers.
    ///
    /// If the property is `nil`, `RestorationRecord.load()` succeeds.
    ///
    /// The error simulates damage to the preserved state. The property becomes `nil` after a successful save,
    /// or after a call to `RestorationRecord.setAside()` or `RestorationRecord.erase()`. If `loadError` is
    /// not `nil`, ``identifiers()`` returns an empty array.
    public var loadError: RestorationError? {
        get { state.withLock { $0.loadError } }
        set { state.withLock { $0.loadError = newValue } }
    }

    /// The simulated error of each call to `RestorationRecord.save(_:)` and `RestorationRecord.erase()`.
    ///
    /// The error occurs for all identifiers.
    ///
    /// If the property is `nil`, `RestorationRecord.save(_:)` and `RestorationRecord.erase()` succeed.
    public var saveError: RestorationError? {
        get { state.withLock { $0.saveError } }
        set { state.withLock { $0.saveError = newValue } }
    }

    /// The preserved state of an identifier, or `nil` if the store contains none.
    public subscript(identifier: String) -> RestorationState? {
        get { state.withLock { $0.saved[Array(identifier.utf8)] } }
        set { state.withLock { $0.saved[Array(identifier.utf8)] = newValue } }
    }

    /// Returns the states that `RestorationRecord.setAside()` has set aside for an identifier, oldest state
    /// first.
    public func statesSetAside(of identifier: String) -> [RestorationState] {
        state.withLock { $0.setAside[Array(identifier.utf8)] ?? [] }
    }

    /// Returns a state that `RestorationRecord.setAside(forVersion:)` has set aside.
    ///
    /// The arguments select the identifier and the format version of the state.
    ///
    /// The framework sets aside each state that a newer version of the package has saved. The method returns
    /// `nil` if the framework has not set aside any state with the given format version.
    public func state(of identifier: String, setAsideForVersion version: Int) -> RestorationState? {
        state.withLock { $0.ofNewerVersions[Array(identifier.utf8)]?[version] }
    }

    /// Creates a new store with a copy of the current preserved state.
    ///
    /// The new store has no open records, and its ``loadError`` and ``saveError`` are `nil`.
    public func snapshot() -> InMemoryRestorationStore {
        InMemoryRestorationStore(saved: state.withLock { $0.saved })
    }

    /// Waits until ``saveCount`` is at least the given number.
    public func waitForSaves(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.saveCount < count else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    /// Returns the identifiers whose preserved state can be loaded, in no particular order.
    public func identifiers() async throws(RestorationError) -> [String] {
        state.withLock { state in
            // State that cannot be loaded is not listed.
            guard state.loadError == nil else { return [] }
            return state.saved.keys.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Opens the record of an identifier, and locks the record until it is closed.
    ///
    /// - Parameter identifier: The identifier.
    /// - Returns: The record.
    /// - Throws: `RestorationError` when the record is already open or the identifier is invalid.
    public func open(_ identifier: String) async throws(RestorationError) -> any RestorationRecord {
        try RestorationRules.check(identifier: identifier)
        let isFree = state.withLock { $0.open.insert(Array(identifier.utf8)).inserted }
        guard isFree else { throw RestorationRules.inUse(identifier) }
        return InMemoryRecord(identifier: identifier, store: self)
    }
}

private final class InMemoryRecord: RestorationRecord {
    private let identifier: String
    private let store: InMemoryRestorationStore
    private let isOpen = Mutex(true)

    private var key: [UInt8] { Array(identifier.utf8) }

    init(identifier: String, store: InMemoryRestorationStore) {
        self.identifier = identifier
        self.store = store
    }

    deinit {
        giveFree()
    }

    func load() async throws(RestorationError) -> RestorationState? {
        try checkOpen()
        return try store.state.withLock { state throws(RestorationError) in
            if let error = state.loadError { throw error }
            return state.saved[key]
        }
    }

    func save(_ restorationState: RestorationState) async throws(RestorationError) {
        try checkOpen()
        try RestorationRules.check(restorationState)
        let waiters = try store.state.withLock { state throws(RestorationError) in
            if let error = state.saveError { throw error }
            state.loadError = nil
            state.saved[key] = restorationState
            state.saveCount += 1
            let reached = state.waiters.filter { $0.count <= state.saveCount }
            state.waiters.removeAll { $0.count <= state.saveCount }
            return reached
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    func setAside() async throws(RestorationError) -> String? {
        try setAside { state, restorationState in state.setAside[key, default: []].append(restorationState) }
    }

    func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try setAside { state, restorationState in
            state.ofNewerVersions[key, default: [:]][version] = restorationState
        }
    }

    private func setAside(
        _ keep: (inout InMemoryRestorationStore.State, RestorationState) -> Void
    ) throws(RestorationError) -> String? {
        try checkOpen()
        return store.state.withLock { state in
            let isDamaged = state.loadError != nil
            state.loadError = nil
            guard let restorationState = state.saved.removeValue(forKey: key) else {
                return isDamaged ? "memory" : nil
            }
            keep(&state, restorationState)
            return "memory"
        }
    }

    func erase() async throws(RestorationError) {
        try checkOpen()
        try store.state.withLock { state throws(RestorationError) in
            if let error = state.saveError { throw error }
            state.loadError = nil
            state.saved[key] = nil
            state.setAside[key] = nil
            state.ofNewerVersions[key] = nil
        }
    }

    func close() async {
        giveFree()
    }

    private func checkOpen() throws(RestorationError) {
        guard isOpen.withLock({ $0 }) else { throw RestorationRules.closed(identifier) }
    }

    private func giveFree() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        store.state.withLock { _ = $0.open.remove(key) }
    }
}
