internal import Logging
private import Synchronization

/// Stores the advertisements of a running peripheral and serializes their changes.
final class AdvertisingControl: Sendable {
    private struct State {
        /// The advertisements as the program has passed them.
        var declared: [Advertisement]
        /// The advertisements with all names and services.
        var resolved: [Advertisement]
        /// The advertisements as the backend has received them, some of them slowed down.
        var sent: [Advertisement]
        var pace = AdvertisingPace()
        var link: (any BackendLink)?
        /// The declaration, with the current services.
        var peripheral: Peripheral
        /// The warnings about the current advertisements, which are already in the log.
        var warnings: [DeclarationIssue]
    }

    private let turns = Turns()
    private let state: Mutex<State>
    private let logger: Logger
    private let changed: @Sendable ([Advertisement]) -> Void
    private let stopwatch: Stopwatch
    private let deadlines: Deadlines

    /// - Parameters:
    ///   - peripheral: The peripheral that declares the advertisements.
    ///   - clock: The clock by which advertisements slow down.
    ///   - logger: The log for the warnings about changed advertisements.
    ///   - changed: Receives the advertisements after each change, as the program has passed them.
    init(
        of peripheral: Peripheral,
        clock: any Clock<Duration>,
        logger: Logger,
        changed: @escaping @Sendable ([Advertisement]) -> Void
    ) {
        stopwatch = Stopwatch(clock)
        deadlines = Deadlines(by: stopwatch)
        self.logger = logger
        self.changed = changed
        state = Mutex(
            State(
                declared: peripheral.initialAdvertisements,
                resolved: peripheral.resolvedAdvertisements,
                sent: peripheral.resolvedAdvertisements,
                peripheral: peripheral,
                warnings: DeclarationValidation(of: peripheral.resolvedAdvertisements, for: peripheral).issues
            )
        )
    }

    /// The current advertisements, as the program has passed them.
    var advertisements: [Advertisement] { state.withLock { $0.declared } }

    /// The advertisement at an index, with all names and services.
    subscript(number: Int) -> Advertisement? {
        state.withLock { $0.resolved.indices.contains(number) ? $0.resolved[number] : nil }
    }

    func begin(_ link: any BackendLink) {
        state.withLock { state in
            state.link = link
            state.pace.restart(at: stopwatch.elapsed())
        }
        deadlines.wake()
    }

    /// Makes the advertisements fast again, because a central can connect again.
    func centralDisconnected() {
        state.withLock { $0.pace.restartIfStarted(at: stopwatch.elapsed()) }
        deadlines.wake()
    }

    /// The time of the next change of the intervals; `nil` if there is none.
    var nextSlowdown: Duration? { state.withLock { $0.pace.next(of: $0.resolved) } }

    /// Slows advertisements down when their time has come, until the calling task is cancelled.
    func runSlowdowns() async {
        await deadlines.run {
            nextSlowdown
        } passed: { _ in
            guard (try? await turns.enter()) != nil else {
                // The run ends. Without an end of the pace, the loop would not wait.
                return state.withLock { $0.pace = AdvertisingPace() }
            }
            defer { turns.leave() }
            let (paced, link) = state.withLock { state in
                let paced = state.pace.pace(state.resolved, at: stopwatch.elapsed())
                return (paced == state.sent ? nil : paced, state.link)
            }
            guard let paced, let link else { return }
            do {
                try await link.advertise(paced, restarting: [])
                state.withLock { $0.sent = paced }
            } catch {
                logger.notice(
                    "The interval of an advertisement stays the same.",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }

    /// Rejects all waiting and later changes.
    func stop() {
        turns.close()
        state.withLock { $0.pace = AdvertisingPace() }
        // Breaks the reference cycle: the link retains the backend, which retains the objects that serve it.
        state.withLock { $0.link = nil }
    }

    /// Changes the advertisements.
    ///
    /// - Parameter change: Modifies the current advertisements. The second argument contains the declared
    ///   advertisements. The closure returns the indices of the advertisements to restart if their time is
    ///   over.
    /// - Throws: The error of `change` or the backend, `DeclarationError`, or ``PeripheralError`` with the
    ///   code `stopped`.
    func change(
        _ change: (inout [Advertisement], _ declared: [Advertisement]) throws -> Set<Int>
    ) async throws {
        try await turns.enter()
        defer { turns.leave() }
        let (former, link) = state.withLock { ($0, $0.link) }
        guard let link else { throw PeripheralError.stopped }
        var declared = former.declared
        let restarted = try change(&declared, former.peripheral.declaredAdvertisements)
        let resolved = declared.map(former.peripheral.resolved)
        let issues = DeclarationValidation(of: resolved, for: former.peripheral).issues
        let errors = issues.filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        // The state changes first, because the backend can report the end of an advertisement before the call
        // returns.
        state.withLock { ($0.declared, $0.resolved) = (declared, resolved) }
        do {
            try await send(resolved, by: link, restarting: restarted)
        } catch {
            state.withLock { ($0.declared, $0.resolved) = (former.declared, former.resolved) }
            throw error
        }
        changed(declared)
        state.withLock { $0.warnings = issues }
        for warning in issues where !former.warnings.contains(warning) {
            logger.warning("\(warning.message)", metadata: ["peripheral.name": "\(former.peripheral.name)"])
        }
    }

    /// Derives the advertisements from the present services, and changes those that differ.
    func servicesChanged(to peripheral: Peripheral) async throws {
        try await turns.enter()
        defer { turns.leave() }
        let (former, resolved, link) = state.withLock { state in
            let former = state.resolved
            state.peripheral = peripheral
            state.resolved = state.declared.map(peripheral.resolved)
            return (former, state.resolved, state.link)
        }
        guard resolved != former else { return }
        guard let link else { throw PeripheralError.stopped }
        do {
            try await send(resolved, by: link, restarting: [])
        } catch {
            state.withLock { $0.resolved = former }
            throw error
        }
    }

    /// Sends changed advertisements at their first intervals.
    private func send(
        _ advertisements: [Advertisement],
        by link: any BackendLink,
        restarting restarted: Set<Int>
    ) async throws {
        try await link.advertise(advertisements, restarting: restarted)
        state.withLock { state in
            state.sent = advertisements
            state.pace.restartIfStarted(at: stopwatch.elapsed())
        }
        deadlines.wake()
    }
}
