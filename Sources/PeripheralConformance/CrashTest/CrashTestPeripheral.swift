public import PeripheralKit

/// The peripheral of the program that a ``CrashTest`` kills.
///
/// Write a separate program that runs only the peripheral of the test:
///
/// ```swift
/// let killed = CrashTestPeripheral { line in print(line) }
/// try await killed.run(
///     on: .bluez,
///     restoringFrom: store,
///     savingEvery: .seconds(1),
///     orders: linesOfStandardInput
/// )
/// ```
///
/// The test creates a second `CrashTestPeripheral`, and does not run it. The central of the test needs the
/// declaration of the peripheral.
public struct CrashTestPeripheral: Sendable {
    private static let serviceUUID: BluetoothUUID = "c0f000c0-7e3c-4b6e-9d29-b3f1c0a1d001"

    /// The peripheral.
    public let peripheral: Peripheral

    /// The first of two values that a central writes in turn, so the values differ by at most one step.
    let first = Characteristic<UInt32>("c0f000c1-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
        PersistentValue(initially: 0)
    }
    let second = Characteristic<UInt32>("c0f000c2-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
        PersistentValue(initially: 0)
    }
    /// A durable value: after the write, neither the value nor its update is lost.
    let durable: Characteristic<UInt32>
    /// A durable update that belongs to each durable value.
    let audit: Characteristic<UInt32>
    /// The characteristic that a central subscribes to and unsubscribes from.
    let signal = Characteristic<UInt8>("c0f000c4-7e3c-4b6e-9d29-b3f1c0a1d001", .notify)
    /// The characteristic to which a central stays subscribed without missing a value.
    let log = Characteristic<UInt32>(
        "c0f000c5-7e3c-4b6e-9d29-b3f1c0a1d001",
        .notify,
        updates: .durable(beyond: 1000)
    )

    private let say: @Sendable (_ line: String) -> Void

    /// Declares the peripheral.
    ///
    /// - Parameter say: Sends a complete line of text to the test immediately. A delayed line is lost if the
    ///   test kills the program.
    public init(say: @escaping @Sendable (_ line: String) -> Void = { _ in }) {
        self.say = say
        let audit = Characteristic<UInt32>(
            "c0f000c6-7e3c-4b6e-9d29-b3f1c0a1d001",
            .notify,
            updates: .durable(beyond: 1000)
        )
        self.audit = audit
        durable = Characteristic(
            "c0f000c3-7e3c-4b6e-9d29-b3f1c0a1d001",
            [.read, .write, .notify],
            updates: .durable(beyond: 1000)
        ) {
            PersistentValue(initially: 0, writes: .durable) { number, _, _, updates in
                try updates.append(audit, number)
            }
        }
        peripheral = Peripheral("Killed", restorationIdentifier: "kill test", pairing: .justWorks) {
            [first, second, durable, signal, log, audit] in
            GATTService(Self.serviceUUID) {
                first
                second
                durable
                signal
                log
                audit
            }
        } onRestore: { [first, second, durable, signal] restored in
            for problem in restored.problems { say(CrashTestLine.problem("\(problem)").text) }
            guard !restored.isEmpty else { return }
            let state = CrashTestState(
                first: try restored.value(of: first) ?? 0,
                second: try restored.value(of: second) ?? 0,
                durable: try restored.value(of: durable) ?? 0,
                isSubscribed: restored.subscribers.contains {
                    $0.status == .expected && $0.hasSubscribed(to: signal)
                }
            )
            say(CrashTestLine.restored(state).text)
        }
    }

    /// Runs the peripheral, and carries out the orders that the test sends.
    ///
    /// The run ends when the stream `orders` ends, or when the test kills the program.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - store: The store of the preserved state.
    ///   - interval: The shortest time between two saves of the state. The ``CrashTest`` must use the same
    ///     interval.
    ///   - orders: The lines that the test passes to ``KillableProgram/order(_:)``.
    /// - Throws: Any error that `Peripheral.run(on:restoringFrom:)` throws.
    public func run(
        on backend: some PeripheralBackend,
        restoringFrom store: any RestorationStore,
        savingEvery interval: Duration,
        orders: AsyncStream<String>
    ) async throws {
        try await peripheral.run(on: backend, restoringFrom: store, savingEvery: interval) { session in
            let events = session.events
            say(CrashTestLine.ready.text)
            await withTaskGroup { group in
                group.addTask {
                    for await event in events { if let line = line(for: event) { say(line.text) } }
                }
                for await order in orders { await carryOut(order, session) }
                group.cancelAll()
            }
        }
    }

    private func line(for event: SessionEvent) -> CrashTestLine? {
        switch event {
        case .subscribed(let subscription) where subscription.characteristic == signal.uuid: .subscribed
        case .unsubscribed(let subscription) where subscription.characteristic == signal.uuid: .unsubscribed
        case .subscribed(let subscription) where subscription.characteristic == log.uuid: .listening
        case .subscribed(let subscription)
        where subscription.characteristic == durable.uuid || subscription.characteristic == audit.uuid:
            .witnessing
        case .disconnected: .left
        case .restorationFailed(let problem): .problem("\(problem)")
        default: nil
        }
    }

    /// Sends a numbered entry to all subscribers and reports when it is preserved.
    private func carryOut(_ order: String, _ session: PeripheralSession) async {
        guard let number = UInt32(order) else { return }
        do {
            try await session.notify(log, number)
            say(CrashTestLine.kept(number).text)
        } catch {
            say(CrashTestLine.problem("entry \(number): \(error)").text)
        }
    }
}
