public import PeripheralCore

/// A central that had subscribed to a characteristic before the program ended, with its present status.
public struct RestoredSubscriber: Hashable, Sendable {
    /// The status of a restored subscriber.
    public enum Status: Hashable, Sendable {
        /// The central has subscribed again, or its subscription has resumed.
        case subscribed
        /// The central is bonded and not connected. It will be recognized when it returns.
        ///
        /// The central receives no updates until it reconnects. Most centrals subscribe again automatically
        /// when the peripheral is on the air again. Some Bluetooth stacks lose the subscriptions when
        /// services are withdrawn, even if the program was killed.
        case expected
        /// The central is not a subscriber until it subscribes again.
        ///
        /// Possible reasons:
        ///
        /// - The central has returned and has not subscribed again.
        /// - The central is bonded with an adapter that the peripheral does not use.
        /// - The central is no longer bonded, or never was bonded.
        /// - The characteristic no longer exists or can no longer have subscribers.
        case mustSubscribeAgain
    }

    /// The central.
    ///
    /// After the central has subscribed again, this is the connected central, as in
    /// ``PeripheralSession/centrals``. Until then, a bonded central has its identity address. Any other
    /// central has its earlier address, although the address may have changed.
    public internal(set) var central: Central

    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// Whether the central had asked for notifications or indications; `nil` if that is not known.
    public let kind: UpdateKind?

    /// The time of the first subscription, in whole seconds since 1970-01-01 00:00 UTC, by the system's
    /// clock.
    public let since: Duration

    /// The present status of the subscriber.
    public internal(set) var status: Status

    /// Returns whether the subscription is, or was, to this characteristic of the peripheral.
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
