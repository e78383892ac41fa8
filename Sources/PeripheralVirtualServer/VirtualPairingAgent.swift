package import PeripheralKit

/// Answers the questions to a ``VirtualGATTServer`` when a central pairs.
///
/// Each question runs in a task that is cancelled when the answer is no longer needed.
package protocol VirtualPairingAgent: Sendable {
    /// The IO capability of the host.
    var capability: PairingUser.Capability { get }

    /// Returns whether the central may pair by Just Works.
    func authorize(_ central: Central) async -> Bool

    /// Displays a passkey until the pairing ends.
    func display(_ passkey: UInt32, for central: Central) async

    /// Returns the passkey that the central displays; `nil` refuses the pairing.
    func enterPasskey(for central: Central) async -> UInt32?

    /// Returns whether the central displays the same number.
    func confirm(_ number: UInt32, for central: Central) async -> Bool
}
