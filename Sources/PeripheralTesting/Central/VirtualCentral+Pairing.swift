internal import PeripheralKit
internal import Synchronization

extension VirtualCentral {
    /// Pairs with the peripheral and encrypts the connection.
    ///
    /// The pairing has the same outcome as with the Linux kernel and bluetoothd. The connection ends if a
    /// pairing question is not answered within 30 seconds.
    public func pair(_ user: PairingUser) async throws {
        var user = user
        if user.entersDisplayedPasskey { user.readDisplay = peripheral.passkeyDisplay.reader() }
        let bond = try await server.pair(connection(), as: user, identity: identity)
        state.withLock { $0.bond = bond }
    }

    /// Encrypts the connection with the keys of the central's bond.
    public func encrypt() throws {
        try server.encrypt(connection(), with: state.withLock(\.bond))
    }

    /// Deletes the central's bond keys.
    ///
    /// The peripheral keeps its bond keys.
    public func forgetBond() {
        state.withLock { state in
            if let bond = state.bond { state.forgottenBond = bond }
            state.bond = nil
        }
    }

    /// Restores the central's bond keys that the last call to ``forgetBond()`` deleted.
    public func recallBond() {
        state.withLock { $0.bond = $0.forgottenBond }
    }

    /// Whether the central confirms each indication when it arrives.
    ///
    /// The default is `true`. If the property is `false`, the peripheral sends one indication and waits up to
    /// 30 seconds for the confirmation. To confirm the indication, call ``confirmIndication()``. When a test
    /// sets the property to `true`, the central confirms a pending indication.
    public var confirmsIndications: Bool {
        get { state.withLock { $0.confirmsIndications } }
        set {
            let (connection, inbox) = state.withLock { state in
                state.confirmsIndications = newValue
                return (state.connection, state.inbox)
            }
            inbox.confirmsIndications = newValue
            if newValue, let connection { server.confirmIndication(on: connection) }
        }
    }

    /// Sets ``confirmsIndications``.
    public func setConfirmsIndications(_ confirms: Bool) {
        confirmsIndications = confirms
    }

    /// Confirms the received indication.
    ///
    /// The method has no effect if the central has already confirmed the indication.
    public func confirmIndication() {
        if let connection = state.withLock(\.connection) { server.confirmIndication(on: connection) }
    }
}
