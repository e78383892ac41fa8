internal import Logging
internal import PeripheralKit
internal import PeripheralTesting
private import Synchronization

extension ScenarioRun {
    /// The next start of a program after its end, possibly with a changed peripheral.
    struct Restart: Sendable {
        /// The restarted peripheral.
        let peripheral: Peripheral
        /// Whether the previous program was killed, instead of stopped, at the end of its body.
        let afterKill: Bool
        let body: @Sendable (_ central: any TestCentral, _ session: PeripheralSession) async throws -> Void
    }

    /// Returns the run followed by a restart of the program, for the same central.
    ///
    /// The central keeps the state from the end of the previous body. It does not connect automatically.
    func restarted(
        as peripheral: Peripheral,
        afterKill: Bool = false,
        _ body:
            @escaping @Sendable (_ central: any TestCentral, _ session: PeripheralSession) async throws ->
            Void
    ) -> ScenarioRun {
        var scenarioRun = self
        scenarioRun.restarts.append(Restart(peripheral: peripheral, afterKill: afterKill, body: body))
        return scenarioRun
    }

    /// Another program on the same adapter.
    struct Neighbor: Sendable {
        /// The peripheral of the program, which has a restoration identifier.
        let peripheral: Peripheral
        /// What the program does until it is cancelled.
        let work: @Sendable (_ session: PeripheralSession) async throws -> Void
    }

    /// Returns the run next to another program, which started earlier.
    ///
    /// - Parameters:
    ///   - neighbor: The peripheral of the program, with a restoration identifier.
    ///   - work: What the program does until it is cancelled.
    /// - Returns: The run with the other program.
    func beside(
        _ neighbor: Peripheral,
        _ work: @escaping @Sendable (_ session: PeripheralSession) async throws -> Void = { _ in }
    ) -> ScenarioRun {
        var scenarioRun = self
        scenarioRun.neighbor = Neighbor(peripheral: neighbor, work: work)
        return scenarioRun
    }

    /// Runs one peripheral after another, each with the state restored from the previous peripheral.
    func runWithRestarts(
        on backend: some PeripheralBackend,
        logger: Logger,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws {
        let first = Restart(peripheral: peripheral, afterKill: false) { central, session in
            try await self.begin(central, session)
        }
        let known = Mutex<(any TestCentral)?>(nil)
        var store = InMemoryRestorationStore()
        for (number, stage) in ([first] + restarts).enumerated() {
            let next = number < restarts.count ? restarts[number] : nil
            let preserved = store
            store = try await stage.peripheral.run(on: backend, restoringFrom: preserved, logger: logger) {
                session in
                let central: any TestCentral
                if let same = known.withLock(\.self) {
                    central = same
                } else {
                    central = try await makeCentral(peripheral)
                    known.withLock { $0 = central }
                }
                do {
                    try await stage.body(central, session)
                } catch {
                    try? await central.disconnect()
                    throw error
                }
                if next == nil { try await central.disconnect() }
                // After a kill, only the content of the store at this instant remains.
                return next?.afterKill == true ? preserved.snapshot() : preserved
            }
        }
    }
}
