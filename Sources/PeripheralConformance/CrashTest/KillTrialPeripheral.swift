public import PeripheralKit

/// The peripheral that a ``KillTrial`` kills.
///
/// A program of its own runs it, and does nothing else:
///
/// ```swift
/// let killed = KillTrialPeripheral { line in print(line) }
/// try await killed.run(on: .bluez, restoringFrom: store, savingEvery: .seconds(1), orders: linesOfStandardInput)
/// ```
///
/// The process of the trial has one as well, which does not run, for its central to know what to look for.
public struct KillTrialPeripheral: Sendable {
    private static let serviceUUID: BluetoothUUID = "c0f000c0-7e3c-4b6e-9d29-b3f1c0a1d001"

    /// The peripheral.
    public let peripheral: Peripheral

    /// Two values that a central writes one after the other, so that they differ by one step at most.
    let first = Characteristic<UInt32>("c0f000c1-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
        PersistentValue(initially: 0)
    }
    let second = Characteristic<UInt32>("c0f000c2-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
        PersistentValue(initially: 0)
    }
    /// A value that is not lost once it is written, nor is the word of it.
    let durable: Characteristic<UInt32>
    /// What is said of each such value, together with it.
    let audit: Characteristic<UInt32>
    /// What a central subscribes to and unsubscribes from.
    let signal = Characteristic<UInt8>("c0f000c4-7e3c-4b6e-9d29-b3f1c0a1d001", .notify)
    /// What a central has subscribed to for good, and of which it misses nothing.
    let log = Characteristic<UInt32>(
        "c0f000c5-7e3c-4b6e-9d29-b3f1c0a1d001",
        .notify,
        updates: .durable(beyond: 1000)
    )

    private let say: @Sendable (_ line: String) -> Void

    /// Declares the peripheral.
    ///
    /// - Parameter say: Takes each line that the program has to tell the trial, at once and as a whole: what is not told is
    ///   not known when the program is killed.
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
            PersistentValue(initially: 0, writes: .durable) { number, _, updates in
                try updates.append(audit, number)
            }
        }
        peripheral = Peripheral("Killed", restorationIdentifier: "kill trial", pairing: .justWorks) {
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
            for problem in restored.problems { say(KillTrialLine.problem("\(problem)").text) }
            guard !restored.isEmpty else { return }
            let state = KillTrialState(
                first: try restored.value(of: first) ?? 0,
                second: try restored.value(of: second) ?? 0,
                durable: try restored.value(of: durable) ?? 0,
                isSubscribed: restored.subscribers.contains {
                    $0.status == .expected && $0.hasSubscribed(to: signal)
                }
            )
            say(KillTrialLine.restored(state).text)
        }
    }

    /// Runs the peripheral, and does what the trial orders, until that ends or the program is killed.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - store: Where the state is preserved.
    ///   - interval: The shortest time between two saves, which the trial has to know.
    ///   - orders: The lines that the trial gives, as ``KillableProgram/order(_:)`` takes them.
    /// - Throws: As `Peripheral.run(on:restoringFrom:)` does.
    public func run(
        on backend: some PeripheralBackend,
        restoringFrom store: any RestorationStore,
        savingEvery interval: Duration,
        orders: AsyncStream<String>
    ) async throws {
        try await peripheral.run(on: backend, restoringFrom: store, savingEvery: interval) { session in
            let events = session.events
            say(KillTrialLine.ready.text)
            await withTaskGroup { group in
                group.addTask {
                    for await event in events { if let line = line(for: event) { say(line.text) } }
                }
                for await order in orders { await carryOut(order, session) }
                group.cancelAll()
            }
        }
    }

    private func line(for event: SessionEvent) -> KillTrialLine? {
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

    /// Sends a numbered entry to whoever has subscribed, and tells when it is preserved.
    private func carryOut(_ order: String, _ session: PeripheralSession) async {
        guard let number = UInt32(order) else { return }
        do {
            try await session.notify(log, number)
            say(KillTrialLine.kept(number).text)
        } catch {
            say(KillTrialLine.problem("entry \(number): \(error)").text)
        }
    }
}
