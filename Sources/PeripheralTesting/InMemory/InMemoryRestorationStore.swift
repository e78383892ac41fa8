public import PeripheralKit
private import Synchronization

/// A store that preserves the state of peripherals in memory, for tests.
///
/// It keeps the promises of a `RestorationStore` but the one that the state survives the process; a test
/// ends a peripheral and starts it again with the same store, or with a ``snapshot()`` of an earlier instant, as if the
/// program had been killed right then.
public final class InMemoryRestorationStore: RestorationStore {
    fileprivate typealias Identifier = [UInt8]

    fileprivate struct State {
        var documents: [Identifier: RestorationDocument] = [:]
        var setAside: [Identifier: [RestorationDocument]] = [:]
        var ofNewerVersions: [Identifier: [Int: RestorationDocument]] = [:]
        var open: Set<Identifier> = []
        var saveCount = 0
        var loadError: RestorationError?
        var saveError: RestorationError?
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    fileprivate let state: Mutex<State>

    /// Makes a store in which nothing is preserved.
    public init() {
        state = Mutex(State())
    }

    private init(documents: [Identifier: RestorationDocument]) {
        state = Mutex(State(documents: documents))
    }

    /// How often a document has been saved.
    public var saveCount: Int { state.withLock { $0.saveCount } }

    /// What `RestorationRecord.load()` throws, for every identifier; `nil` lets it load again.
    ///
    /// It stands for what is wrong with that which is preserved, and so ends with
    /// `RestorationRecord.setAside()` and with the next successful save. Until then, nothing is listed.
    public var loadError: RestorationError? {
        get { state.withLock { $0.loadError } }
        set { state.withLock { $0.loadError = newValue } }
    }

    /// What `RestorationRecord.save(_:)` throws, for every identifier; `nil` lets it save again.
    public var saveError: RestorationError? {
        get { state.withLock { $0.saveError } }
        set { state.withLock { $0.saveError = newValue } }
    }

    /// What is preserved under an identifier; `nil` is nothing.
    public subscript(identifier: String) -> RestorationDocument? {
        get { state.withLock { $0.documents[Array(identifier.utf8)] } }
        set { state.withLock { $0.documents[Array(identifier.utf8)] = newValue } }
    }

    /// The documents of an identifier that were set aside, the oldest first.
    public func documentsSetAside(of identifier: String) -> [RestorationDocument] {
        state.withLock { $0.setAside[Array(identifier.utf8)] ?? [] }
    }

    /// The document of an identifier that was set aside for a newer version; `nil` is none.
    public func document(of identifier: String, setAsideForVersion version: Int) -> RestorationDocument? {
        state.withLock { $0.ofNewerVersions[Array(identifier.utf8)]?[version] }
    }

    /// A store that holds what is preserved here now, in which no record is open, and which does not fail.
    public func snapshot() -> InMemoryRestorationStore {
        InMemoryRestorationStore(documents: state.withLock { $0.documents })
    }

    /// Waits until documents have been saved so many times since the store was made.
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

    /// The identifiers under which something is preserved that can be loaded, in no particular order.
    public func identifiers() async throws(RestorationError) -> [String] {
        state.withLock { state in
            // What cannot be loaded is not listed.
            guard state.loadError == nil else { return [] }
            return state.documents.keys.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Opens the record of an identifier, for this caller alone until it is closed.
    ///
    /// - Parameter identifier: The identifier.
    /// - Returns: The record.
    /// - Throws: `RestorationError` when the record is open already, or cannot have the identifier.
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

    func load() async throws(RestorationError) -> RestorationDocument? {
        try checkOpen()
        return try store.state.withLock { state throws(RestorationError) in
            if let error = state.loadError { throw error }
            return state.documents[key]
        }
    }

    func save(_ document: RestorationDocument) async throws(RestorationError) {
        try checkOpen()
        try RestorationRules.check(document)
        let waiters = try store.state.withLock { state throws(RestorationError) in
            if let error = state.saveError { throw error }
            state.loadError = nil
            state.documents[key] = document
            state.saveCount += 1
            let reached = state.waiters.filter { $0.count <= state.saveCount }
            state.waiters.removeAll { $0.count <= state.saveCount }
            return reached
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    func setAside() async throws(RestorationError) -> String? {
        try setAside { state, document in state.setAside[key, default: []].append(document) }
    }

    func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        try setAside { state, document in state.ofNewerVersions[key, default: [:]][version] = document }
    }

    private func setAside(
        _ keep: (inout InMemoryRestorationStore.State, RestorationDocument) -> Void
    ) throws(RestorationError) -> String? {
        try checkOpen()
        return store.state.withLock { state in
            let isDamaged = state.loadError != nil
            state.loadError = nil
            guard let document = state.documents.removeValue(forKey: key) else {
                return isDamaged ? "memory" : nil
            }
            keep(&state, document)
            return "memory"
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
