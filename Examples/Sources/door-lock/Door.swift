import PeripheralKit

/// A door that phones open once they have paired, and that tells them who did.
struct Door {
    private static let serviceUUID: BluetoothUUID = "5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let lockUUID: BluetoothUUID = "5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let auditUUID: BluetoothUUID = "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001"

    /// Whether the door is locked; it stays so whatever becomes of the program.
    let isLocked: Characteristic<Bool>
    /// Who has locked and unlocked it: each phone that has subscribed gets all of it, also what happens while it is away.
    let audit = Characteristic<String>(
        Self.auditUUID,
        .notify,
        security: .encrypted,
        updates: .durable
    )
    let peripheral: Peripheral

    private let entries: AsyncStream<String>

    /// Makes a door.
    ///
    /// - Parameters:
    ///   - moveBolt: Moves the bolt; what it throws refuses the phone's request.
    ///   - onRestore: Takes what the program before has left.
    init(
        moveBolt: @escaping @Sendable (_ isLocked: Bool) async throws -> Void,
        onRestore: @escaping @Sendable (RestoredState) async throws -> Void
    ) {
        let (entries, entry) = AsyncStream.makeStream(of: String.self)
        self.entries = entries
        isLocked = Characteristic(
            Self.lockUUID,
            [.read, .write, .notify],
            security: .encrypted,
            updates: .latest
        ) {
            PersistentValue(initially: true, writes: .durable) { isLocked, central in
                try await moveBolt(isLocked)
                entry.yield("\(isLocked ? "locked" : "unlocked") by \(central.address)")
            }
        }
        peripheral = Peripheral("Door", restorationIdentifier: "door-lock", pairing: .justWorks) {
            [isLocked, audit] in
            GATTService(Self.serviceUUID) {
                isLocked
                audit
            }
        } onRestore: { restored in
            try await onRestore(restored)
        }
    }

    /// Keeps the audit for all who have subscribed to it, until the run ends.
    ///
    /// Also on a full disk: an entry that cannot be preserved yet is sent all the same, and the door goes on.
    func serve(_ session: PeripheralSession) async throws {
        for await entry in entries {
            do { try await session.notify(audit, entry) } catch is RestorationError {}
        }
    }
}
