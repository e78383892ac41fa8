internal import PeripheralKit
internal import Synchronization

extension VirtualCentral {
    /// Pairs with the peripheral and encrypts the connection.
    ///
    /// The outcome is that of the Linux kernel and bluetoothd. When a question is not answered within 30
    /// seconds, the connection ends.
    public func pair(_ user: PairingUser) async throws {
        let bond = try await server.pair(connection(), as: user, identity: identity)
        state.withLock { $0.bond = bond }
    }

    /// Encrypts the connection with the keys of the central's bond.
    public func encrypt() throws {
        try server.encrypt(connection(), with: state.withLock(\.bond))
    }

    /// Deletes the central's keys of the bond; the peripheral keeps its own.
    public func forgetBond() {
        state.withLock { state in
            if let bond = state.bond { state.forgottenBond = bond }
            state.bond = nil
        }
    }

    /// Replaces the central's keys with those that ``forgetBond()`` deleted last.
    public func recallBond() {
        state.withLock { $0.bond = $0.forgottenBond }
    }

    /// Whether the central confirms indications as they arrive; `true` by default.
    ///
    /// While this is `false`, the peripheral waits for up to 30 seconds and sends one indication at a time;
    /// ``confirmIndication()`` confirms it. Setting `true` also confirms the indication that waits.
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

    /// Confirms the indication that has arrived; has no effect when it is already confirmed.
    public func confirmIndication() {
        if let connection = state.withLock(\.connection) { server.confirmIndication(on: connection) }
    }
}
