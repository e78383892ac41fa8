internal import PeripheralKit
internal import Synchronization

extension VirtualCentral {
    /// Pairs with the peripheral, and encrypts the connection.
    ///
    /// What comes of it is what a kernel and bluetoothd make of it. When nobody answers for 30 seconds, the
    /// connection ends.
    public func pair(_ user: PairingUser) async throws {
        let bond = try await server.pair(connection(), as: user, identity: identity)
        state.withLock { $0.bond = bond }
    }

    /// Encrypts the connection with the keys that the central has kept from a bond.
    public func encrypt() throws {
        try server.encrypt(connection(), with: state.withLock(\.bond))
    }

    /// Drops the keys that the central has kept; the peripheral keeps its own.
    public func forgetBond() {
        state.withLock { state in
            if let bond = state.bond { state.forgottenBond = bond }
            state.bond = nil
        }
    }

    /// Has again the keys that ``forgetBond()`` dropped last, in place of those that it has.
    public func recallBond() {
        state.withLock { $0.bond = $0.forgottenBond }
    }

    /// Whether the central confirms indications as they arrive, as it does at first.
    ///
    /// A central that does not leaves the peripheral waiting, for 30 seconds at most, and gets one indication at a
    /// time: ``confirmIndication()`` asks for the next. Setting it to true confirms what waits.
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

    /// Has the central confirm indications as they arrive, or not; the same as ``confirmsIndications``.
    public func setConfirmsIndications(_ confirms: Bool) {
        confirmsIndications = confirms
    }

    /// Confirms the indication that has arrived; without effect when it is confirmed.
    public func confirmIndication() {
        if let connection = state.withLock(\.connection) { server.confirmIndication(on: connection) }
    }
}
