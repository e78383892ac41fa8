public import PeripheralCore

/// A central that had subscribed to a characteristic before the program ended, and what has become of it.
public struct RestoredSubscriber: Hashable, Sendable {
    /// What has become of a subscriber.
    public enum Status: Hashable, Sendable {
        /// It has subscribed again, or its subscription has resumed.
        case subscribed
        /// It is bonded and away, so that it is recognised when it returns.
        ///
        /// It gets nothing until then. Most centrals subscribe again by themselves when the peripheral is back;
        /// BlueZ forgets the subscriptions to services that are withdrawn, also when a program is killed.
        case expected
        /// It has returned and not subscribed so far; or it is bonded with another adapter than the one that the peripheral is
        /// on, not bonded any more, or never was, or the characteristic is gone or has no subscribers any more: nothing but a new
        /// subscription makes it a subscriber.
        case mustSubscribeAgain
    }

    /// Who it is.
    ///
    /// Once it has subscribed again, this is the central that is there, as in ``PeripheralSession/centrals``. Before that, it is
    /// known by the identity of a bonded central, otherwise by the address that it went by, which it may have changed since.
    public internal(set) var central: Central

    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// What it had asked for; `nil` where the Bluetooth stack does not tell.
    public let kind: UpdateKind?

    /// When it subscribed first: the time since 1970-01-01 00:00 UTC, in whole seconds, by the system's clock.
    public let since: Duration

    /// What has become of it.
    public internal(set) var status: Status

    /// Whether it has, or had, subscribed to a characteristic of the peripheral.
    public func hasSubscribed<Value>(to characteristic: Characteristic<Value>) -> Bool {
        identity == characteristic.declaration.identity
    }

    /// Takes note that its bond is gone.
    mutating func forgetBond() {
        central = Central(
            address: central.address,
            addressKind: central.addressKind,
            mtu: central.mtu,
            id: central.id
        )
    }

    /// The characteristic as it is declared now; `nil` when it is not any more.
    let identity: CharacteristicIdentity?
}
