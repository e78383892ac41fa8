import PeripheralKit

/// A door that phones open once they have paired, and that tells them who did.
///
/// It shows how a lock goes on where it was, and keeps nobody out: with `.justWorks`, whoever stands at the door can pair and
/// unlock it. A door that is to keep strangers out has to show something to its owner alone: use `Pairing.displayPasskey` with a
/// display on the inside, and `security: .authenticated`, which does not admit who has paired without the passkey.
struct Door {
    private static let serviceUUID: BluetoothUUID = "5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let lockUUID: BluetoothUUID = "5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let auditUUID: BluetoothUUID = "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001"

    /// Whether the door is locked; it stays so whatever becomes of the program, and the bolt follows when that begins anew.
    let isLocked: Characteristic<Bool>
    /// Who has locked and unlocked it.
    ///
    /// A phone that has subscribed gets each entry, also those of the time that a bonded one is away: the newest 64 of these.
    let audit = Characteristic<String>(
        Self.auditUUID,
        .notify,
        security: .encrypted,
        updates: .durable
    )
    let peripheral: Peripheral

    /// Makes a door.
    ///
    /// - Parameters:
    ///   - name: The name under which phones find it.
    ///   - moveBolt: Moves the bolt, when a phone asks and when the state is restored; what it throws refuses the request, or
    ///     ends the run.
    ///   - onRestore: Takes what the program before has left.
    init(
        name: String = "Door",
        moveBolt: @escaping @Sendable (_ isLocked: Bool) async throws -> Void,
        onRestore: @escaping @Sendable (RestoredState) async throws -> Void
    ) {
        isLocked = Characteristic(
            Self.lockUUID,
            [.read, .write, .notify],
            security: .encrypted,
            updates: .latest
        ) { [audit] in
            // The phone is answered when both the state and the entry are preserved.
            PersistentValue(initially: true, writes: .durable) { isLocked, central, updates in
                try await moveBolt(isLocked)
                try updates.append(audit, "\(isLocked ? "locked" : "unlocked") by \(central.address)")
            }
        }
        peripheral = Peripheral(name, restorationIdentifier: "door-lock", pairing: .justWorks) {
            [isLocked, audit] in
            GATTService(Self.serviceUUID) {
                isLocked
                audit
            }
        } onRestore: { [isLocked] restored in
            try await onRestore(restored)
            // The program before may have ended between the move and the save, or somebody has moved the bolt by hand.
            try await moveBolt(restored.value(of: isLocked) ?? true)
        }
    }
}
