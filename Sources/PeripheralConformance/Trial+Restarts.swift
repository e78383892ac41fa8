internal import Logging
internal import PeripheralKit
internal import PeripheralTesting
private import Synchronization

extension Trial {
    /// What follows the end of a program: the next start of it, as it may be by then.
    struct Restart: Sendable {
        /// The peripheral, with what it has in common with the one before.
        let peripheral: Peripheral
        /// Whether the program before was killed, at the end of its body, rather than stopped.
        let afterKill: Bool
        let body: @Sendable (_ central: any TestCentral, _ session: PeripheralSession) async throws -> Void
    }

    /// The same trial, followed by a restart of the program, for the same central.
    ///
    /// The central is as the body before has left it; it is not connected by itself.
    func restarted(
        as peripheral: Peripheral,
        afterKill: Bool = false,
        _ body:
            @escaping @Sendable (_ central: any TestCentral, _ session: PeripheralSession) async throws ->
            Void
    ) -> Trial {
        var trial = self
        trial.restarts.append(Restart(peripheral: peripheral, afterKill: afterKill, body: body))
        return trial
    }

    /// The same trial while another program runs, which has started before and has a restoration identifier.
    func beside(_ neighbor: Peripheral) -> Trial {
        var trial = self
        trial.neighbor = neighbor
        return trial
    }

    /// Runs one peripheral after the other, with the state of each restored from the one before.
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
                // What is in the store at this instant is all that a kill would leave.
                return next?.afterKill == true ? preserved.snapshot() : preserved
            }
        }
    }
}
