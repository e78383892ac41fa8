package import PeripheralKit

/// Who answers for a ``VirtualGATTServer`` when a central pairs.
///
/// Questions are asked in tasks that are cancelled when the answer does not matter any more.
package protocol VirtualPairingAgent: Sendable {
    /// What there is for a person to see and to touch.
    var capability: PairingUser.Capability { get }

    /// Says whether the central may pair by Just Works.
    func authorize(_ central: Central) async -> Bool

    /// Displays a passkey, for as long as the pairing takes.
    func display(_ passkey: UInt32, for central: Central) async

    /// Asks for the passkey that the central displays; `nil` refuses.
    func enterPasskey(for central: Central) async -> UInt32?

    /// Asks whether the central displays this number, too.
    func confirm(_ number: UInt32, for central: Central) async -> Bool
}
