private import Synchronization

/// What a running peripheral advertises, and who may change it: one call after the other.
final class AdvertisingControl: Sendable {
    private struct State {
        /// As the program has given them.
        var declared: [Advertisement]
        /// As the backend has them.
        var resolved: [Advertisement]
        var link: (any BackendLink)?
    }

    private let peripheral: Peripheral
    private let turns = Turns()
    private let state: Mutex<State>
    private let changed: @Sendable ([Advertisement]) -> Void

    /// - Parameters:
    ///   - peripheral: What declares the advertisements.
    ///   - changed: Told what is advertised from now on, as the program has given it.
    init(of peripheral: Peripheral, changed: @escaping @Sendable ([Advertisement]) -> Void) {
        self.peripheral = peripheral
        self.changed = changed
        state = Mutex(
            State(declared: peripheral.initialAdvertisements, resolved: peripheral.resolvedAdvertisements)
        )
    }

    /// What is advertised, as the program has given it.
    var advertisements: [Advertisement] { state.withLock { $0.declared } }

    /// The advertisement at a place, with what it leaves open filled in.
    subscript(number: Int) -> Advertisement? {
        state.withLock { $0.resolved.indices.contains(number) ? $0.resolved[number] : nil }
    }

    func begin(_ link: any BackendLink) {
        state.withLock { $0.link = link }
    }

    /// Sends away all who wait.
    func stop() {
        turns.close()
        // The link keeps the backend, which keeps those who serve it.
        state.withLock { $0.link = nil }
    }

    /// Advertises something else.
    ///
    /// - Parameter change: Makes of what is advertised, and what is declared, what shall be; returns the places of those
    ///   that begin anew if their time is over.
    /// - Throws: What `change` or the backend throws, `DeclarationError`, or ``PeripheralError`` with the code `stopped`.
    func change(
        _ change: (inout [Advertisement], _ declared: [Advertisement]) throws -> Set<Int>
    ) async throws {
        try await turns.enter()
        defer { turns.leave() }
        let (former, link) = state.withLock { ($0, $0.link) }
        guard let link else { throw PeripheralError.stopped }
        var declared = former.declared
        let restarted = try change(&declared, peripheral.declaredAdvertisements)
        let resolved = declared.map(peripheral.resolved)
        let errors = DeclarationValidation(of: resolved, for: peripheral).issues.filter {
            $0.severity == .error
        }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        // First, since the backend may tell of the end of an advertisement before it returns.
        state.withLock { ($0.declared, $0.resolved) = (declared, resolved) }
        do {
            try await link.advertise(resolved, restarting: restarted)
        } catch {
            state.withLock { ($0.declared, $0.resolved) = (former.declared, former.resolved) }
            throw error
        }
        changed(declared)
    }
}
