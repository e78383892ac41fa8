/// When centrals may pair, and how many bonds there may be.
struct PairingPolicy: Hashable, Sendable {
    /// Whether centrals may pair only while a pairing window is open.
    var needsWindow = false
    /// Whether centrals without a bond are disconnected while no pairing window is open.
    var disconnectsUnbonded = false
    /// The maximum number of bonds; `nil` without a maximum.
    var maximumBonds: Int?
    /// Whether a new bond replaces the oldest bond when the maximum is reached.
    var replacesOldest = false

    /// The policy that permits only what both policies permit.
    func combined(with other: PairingPolicy) -> PairingPolicy {
        PairingPolicy(
            needsWindow: needsWindow || other.needsWindow,
            disconnectsUnbonded: disconnectsUnbonded || other.disconnectsUnbonded,
            maximumBonds: [maximumBonds, other.maximumBonds].compactMap(\.self).min(),
            replacesOldest: replacesOldest || other.replacesOldest
        )
    }
}

extension Pairing {
    /// Returns this pairing, permitted only while a pairing window is open.
    ///
    /// A pairing window is a time in which centrals may pair. ``PeripheralSession/allowPairing(for:)`` opens
    /// it, for example when a person presses a button:
    ///
    /// ```swift
    /// let lock = Peripheral("Lock", pairing: .justWorks.onlyWhenAllowed()) {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { isLocked }
    /// }
    /// try await lock.run(on: .bluez) { session in
    ///     for await _ in button.presses { try await session.allowPairing(for: .seconds(60)) }
    /// }
    /// ```
    ///
    /// At the start of a run, no window is open. Outside a window, the device refuses to pair, but bonded
    /// centrals connect and encrypt their links as always. The Bluetooth stack itself refuses centrals that
    /// want to bond, and does not report these attempts.
    ///
    /// Outside a window, a central without a bond can still connect, and use the attributes that require no
    /// security. To keep such centrals out, set `disconnectingUnbonded`.
    ///
    /// - Parameter disconnectingUnbonded: Whether centrals without a bond are disconnected outside a window.
    ///   Each is disconnected when it connects, at the start of a run, and when the window closes. A central
    ///   that is pairing when the window closes stays until the pairing has ended, at most 60 seconds. It
    ///   cannot try again. This concerns all connections of the adapter, including those of other programs.
    /// - Returns: The pairing to pass to the initializer of a peripheral. With ``none`` or ``system``,
    ///   validation refuses it.
    public func onlyWhenAllowed(disconnectingUnbonded: Bool = false) -> Pairing {
        with(PairingPolicy(needsWindow: true, disconnectsUnbonded: disconnectingUnbonded))
    }

    /// Returns this pairing with a maximum number of bonds.
    ///
    /// ```swift
    /// let pairing = Pairing.justWorks.limitingBonds(to: 4, replacingOldest: true)
    /// ```
    ///
    /// All bonds of the adapter count, including those that other programs have made. A central that is
    /// pairing counts as well, at most 60 seconds after its last attempt. If the maximum is reached, a
    /// central without a bond cannot pair. A bonded central can pair again, because this makes no additional
    /// bond.
    ///
    /// With `replacingOldest`, a central can pair although the maximum is reached, and the oldest bond is
    /// removed when it has paired. The oldest bond is that of the central that paired first. Only bonds that
    /// centrals have made with this peripheral are removed: those of this run, and with a restoration
    /// identifier also those of earlier runs. If there is no such bond, the central cannot pair.
    ///
    /// - Parameters:
    ///   - maximum: The maximum number of bonds, at least 1.
    ///   - replacingOldest: Whether a new bond replaces the oldest bond.
    /// - Returns: The pairing to pass to the initializer of a peripheral. With ``none`` or ``system``,
    ///   validation refuses it.
    public func limitingBonds(to maximum: Int, replacingOldest: Bool = false) -> Pairing {
        with(PairingPolicy(maximumBonds: maximum, replacesOldest: replacingOldest))
    }

    private func with(_ policy: PairingPolicy) -> Pairing {
        Pairing(kinds: kinds, policy: self.policy.combined(with: policy))
    }
}
