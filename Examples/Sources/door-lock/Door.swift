import PeripheralKit

/// A door that paired phones can open, with an audit log.
///
/// The example shows how a lock continues after a restart, and who can pair with it: the first phone, and
/// each phone that a paired phone admits. With `.justWorks`, anyone at the door can pair in this time. A real
/// door also shows a passkey to its owner only. Use `Pairing.displayPasskey` with a display on the inside,
/// and `security: .authenticated`, which refuses a phone that has paired without the passkey.
struct Door: GATTServiceDeclaration {
    /// Whether the door is locked.
    ///
    /// The value outlives the program. After a restart, the bolt follows the value.
    let isLocked = Characteristic<Bool>(
        "5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .write, .notify],
        security: .encrypted,
        updates: .latest
    )
    /// The audit log: each entry names the phone that has locked or unlocked the door.
    ///
    /// A phone that has subscribed gets each entry. A bonded phone that was away gets the newest 64 entries
    /// when it returns.
    let audit = Characteristic<String>(
        "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001",
        .notify,
        security: .encrypted,
        updates: .durable
    )
    /// Lets another phone pair within the next minute.
    ///
    /// A paired phone writes any value.
    let admit = Characteristic<UInt8>(
        "5c3a0014-7e3c-4b6e-9d29-b3f1c0a1d001",
        .write,
        security: .encrypted
    )

    /// The name under which phones find the door.
    var name = "Door"
    /// Whether a phone may pair after the start, although other phones have paired before.
    ///
    /// A real door has a button on the inside for this, for the case that all paired phones are lost.
    var admitsAtStart = false
    /// Moves the bolt when a phone requests it, and when the state is restored.
    ///
    /// If it throws, the request is refused, or the run ends.
    let moveBolt: @Sendable (_ isLocked: Bool) async throws -> Void
    /// Handles the state that the previous run left.
    let onRestore: @Sendable (RestoredState) async throws -> Void

    var service: GATTService {
        GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") {
            isLocked {
                // The request is answered when both the state and the entry are preserved.
                PersistentValue(initially: true, writes: .durable) { isLocked, central, _, updates in
                    try await moveBolt(isLocked)
                    try updates.append(audit, "\(isLocked ? "locked" : "unlocked") by \(central.address)")
                }
            }
            audit
            admit {
                Write { _, _, session in try await session.allowPairing(for: .seconds(60)) }
            }
        }
    }

    /// Lets the first phone pair, in the first two minutes of a door that no phone is bonded with.
    func run(in session: PeripheralSession) async throws {
        let hasBonds = try await !session.bondedCentrals().isEmpty
        guard admitsAtStart || !hasBonds else { return }
        try await session.allowPairing(for: .seconds(120))
    }

    /// At most eight phones can pair, each in a pairing window.
    private var pairing: Pairing { .justWorks.onlyWhenAllowed().limitingBonds(to: 8) }

    var peripheral: Peripheral {
        Peripheral(name, restorationIdentifier: "door-lock", pairing: pairing) {
            self
        } onRestore: { restored in
            try await onRestore(restored)
            // The previous run may have ended between the move and the save, or a person may have moved the
            // bolt by hand.
            try await moveBolt(restored.value(of: isLocked) ?? true)
        }
    }
}
