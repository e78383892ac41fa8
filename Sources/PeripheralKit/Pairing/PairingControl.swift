internal import Logging
internal import PeripheralCore
private import Synchronization

/// Applies the pairing policy during a run.
final class PairingControl: Sendable {
    /// The work that needs the Bluetooth stack.
    private enum Work {
        case changeAllowance
        case disconnect(Central)
        case trimBonds
    }

    private let state: Mutex<PairingStateMachine>
    private let stopwatch: Stopwatch
    private let deadlines: Deadlines
    private let logger: Logger
    private let link: @Sendable () throws -> any BackendLink
    private let report: @Sendable (SessionEvent) -> Void
    private let preserve: @Sendable ([DeviceAddress]) -> Void
    private let (works, work) = AsyncStream.makeStream(of: Work.self)

    /// - Parameters:
    ///   - policy: The declared policy.
    ///   - bonds: The centrals that have bonded in earlier runs; the oldest is the first.
    ///   - stopwatch: Measures the pairing window and the attempts.
    ///   - logger: The log of the run.
    ///   - link: Returns the link to the backend while the session is valid.
    ///   - report: Reports an event to the program.
    ///   - preserve: Preserves the order of the bonds.
    init(
        _ policy: PairingPolicy,
        bonds: [DeviceAddress],
        stopwatch: Stopwatch,
        logger: Logger,
        link: @escaping @Sendable () throws -> any BackendLink,
        report: @escaping @Sendable (SessionEvent) -> Void,
        preserve: @escaping @Sendable ([DeviceAddress]) -> Void
    ) {
        state = Mutex(PairingStateMachine(policy, bonds: bonds))
        self.stopwatch = stopwatch
        deadlines = Deadlines(by: stopwatch)
        self.logger = logger
        self.link = link
        self.report = report
        self.preserve = preserve
    }

    /// Whether centrals may pair.
    var isAllowed: Bool { state.withLock(\.isAllowed) }

    // MARK: For the session

    /// Opens the pairing window, or moves its end.
    ///
    /// - Throws: The error of the stack. The window is open nevertheless.
    func allow(for duration: Duration) async throws {
        try await change { $0.allow(until: stopwatch.elapsed() + duration) }
    }

    /// Closes the pairing window.
    func disallow() async throws {
        try await change { $0.disallow() }
    }

    private func change(_ change: (inout PairingStateMachine) -> [PairingStateMachine.Action]) async throws {
        guard state.withLock({ $0.policy.needsWindow }) else {
            throw PeripheralError(
                code: .notDeclared,
                message: "The peripheral declares no pairing window. "
                    + "Declare the pairing with onlyWhenAllowed(), for example .justWorks.onlyWhenAllowed()."
            )
        }
        apply(change, except: .allowanceChanged)
        // While the peripheral is off the air, the stack learns of the window with the next publication. If
        // nothing has changed, the stack may still be carrying out the change of an earlier call.
        guard let link = try? link() else { return }
        try await link.pairingAllowanceChanged()
    }

    // MARK: For the backend's events

    func published() { apply { $0.published() } }

    func connected(_ central: Central) { apply { $0.connected(central) } }

    func disconnected(_ central: Central.ID) { apply { $0.disconnected(central) } }

    func bondRemoved(_ central: Central) { apply { $0.bondRemoved(central.address) } }

    func suspended() { apply { $0.suspended() } }

    // MARK: For the questions

    /// Records a question about a central.
    ///
    /// - Returns: The reason why the policy refuses; `nil` if the handlers decide.
    func refusal(of central: Central) async -> PairingFailure? {
        let isAllowed = state.withLock { state in
            guard state.isAllowed else { return false }
            state.asked(about: central)
            return true
        }
        guard isAllowed else {
            apply { $0.refused(central, .notAllowed) }
            return .notAllowed
        }
        guard state.withLock({ $0.policy.maximumBonds != nil }), !central.isBonded else { return nil }
        // If the number of bonds is unknown, there may be no room.
        let bonded = try? await link().bondedCentrals().map(\.address)
        guard let bonded, state.withLock({ $0.hasRoom(for: central, besides: bonded) }) else {
            logger.notice(
                bonded == nil
                    ? "A central cannot pair, because the Bluetooth stack does not report the number of bonds."
                    : "A central cannot pair, because the bonds and the centrals that are pairing reach the maximum.",
                metadata: ["peripheral.central": "\(central.address)"]
            )
            answered(central, .tooManyBonds)
            return .tooManyBonds
        }
        return nil
    }

    /// Records the answer to a question; `nil` for consent.
    func answered(_ central: Central, _ failure: PairingFailure?) {
        apply { $0.answered(central, failure, at: stopwatch.elapsed()) }
    }

    // MARK: Work

    /// Handles the end of the window and of attempts, until the calling task is cancelled.
    func runDeadlines() async {
        await deadlines.run {
            state.withLock(\.deadline)
        } passed: { now in
            apply { $0.passed(now) }
        }
    }

    /// Carries out what needs the stack, until ``stop()``.
    func run() async {
        for await work in works {
            do {
                let link = try link()
                switch work {
                case .changeAllowance: try await link.pairingAllowanceChanged()
                case .disconnect(let central): try await link.disconnect(central.id)
                case .trimBonds: try await trimBonds(link)
                }
            } catch let error as PeripheralError where [.disconnected, .connectionLost].contains(error.code) {
                // The central has left, or the next publication repeats the work.
            } catch {
                guard !error.isConsequenceOfEnd else { continue }
                logger.warning(
                    "The pairing policy could not be applied.",
                    metadata: ["peripheral.reason": .bounded("\(error)")]
                )
            }
        }
    }

    /// Ends ``run()``.
    func stop() { work.finish() }

    private func trimBonds(_ link: any BackendLink) async throws {
        let bonded = try await link.bondedCentrals()
        for address in state.withLock({ $0.excess(of: bonded.map(\.address)) }) {
            guard let central = bonded.first(where: { $0.address == address }) else { continue }
            try await link.forget(central.id)
        }
    }

    private func apply(
        _ change: (inout PairingStateMachine) -> [PairingStateMachine.Action],
        except omitted: PairingStateMachine.Action? = nil
    ) {
        let actions = state.withLock { change(&$0) }
        deadlines.wake()
        for action in actions where action != omitted {
            switch action {
            case .report(let event): report(event)
            case .allowanceChanged: work.yield(.changeAllowance)
            case .disconnect(let central): work.yield(.disconnect(central))
            case .trimBonds: work.yield(.trimBonds)
            case .bondsChanged(let bonds): preserve(bonds)
            }
        }
    }
}
