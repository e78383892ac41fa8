public import PeripheralCore

/// A central that had subscribed to a characteristic before the program ended, with its present status.
public struct RestoredSubscriber: Hashable, Sendable {
    /// The status of a restored subscriber.
    public enum Status: Hashable, Sendable {
        /// It has subscribed again, or its subscription has resumed.
        case subscribed
        /// It is bonded and not connected; it will be recognized when it returns.
        ///
        /// Until then, it gets no updates. Most centrals subscribe again automatically when the peripheral is
        /// back on the air. Some Bluetooth stacks lose the subscriptions to withdrawn services, even if the
        /// program was killed.
        case expected
        /// It is a subscriber again only if it subscribes again.
        ///
        /// Possible reasons:
        ///
        /// - It has returned and has not subscribed so far.
        /// - It is bonded with another adapter than the one that the peripheral uses.
        /// - It is no longer bonded, or never was.
        /// - The characteristic no longer exists or can no longer have subscribers.
        case mustSubscribeAgain
    }

    /// The central.
    ///
    /// Once it has subscribed again, this is the connected central, as in ``PeripheralSession/centrals``.
    /// Before that, a bonded central has its identity address, and any other central has its earlier address,
    /// which may have changed since.
    public internal(set) var central: Central

    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// What it had asked for; `nil` when the Bluetooth stack does not report it.
    public let kind: UpdateKind?

    /// When it first subscribed: the time since 1970-01-01 00:00 UTC, in whole seconds, by the system's
    /// clock.
    public let since: Duration

    /// Its present status.
    public internal(set) var status: Status

    /// Returns whether its subscription is, or was, to a characteristic of the peripheral.
    public func hasSubscribed<Value>(to characteristic: Characteristic<Value>) -> Bool {
        identity == characteristic.declaration.identity
    }

    /// Marks the central as no longer bonded.
    mutating func forgetBond() {
        central = Central(
            address: central.address,
            addressKind: central.addressKind,
            mtu: central.mtu,
            id: central.id
        )
    }

    /// The characteristic in the present declaration; `nil` when it no longer exists.
    let identity: CharacteristicIdentity?
}
