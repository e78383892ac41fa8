public import PeripheralCore

/// A subscriber from an earlier run, with its present status.
///
/// The central had subscribed to a characteristic before the program ended.
public struct RestoredSubscriber: Hashable, Sendable {
    /// The present status of a restored subscriber.
    public enum Status: Hashable, Sendable {
        /// The central has subscribed again, or the stack has resumed the subscription.
        case subscribed
        /// The central is bonded and not connected.
        ///
        /// The peripheral can identify the central after the central reconnects. The central receives no
        /// updates until it has reconnected. After the peripheral is published again, most centrals subscribe
        /// automatically. The Bluetooth stack removes the services of a program when the program ends or is
        /// killed. Some Bluetooth stacks also delete the subscriptions to the removed services.
        case expected
        /// The central is not a subscriber until it subscribes again.
        ///
        /// Possible reasons:
        ///
        /// - The central has reconnected but has not subscribed again.
        /// - The central is bonded with an adapter that the peripheral does not use.
        /// - The central is no longer bonded, or was never bonded.
        /// - The characteristic no longer exists, or no longer allows subscriptions.
        case mustSubscribeAgain
    }

    /// The central.
    ///
    /// After the central has subscribed again, this property is equal to an element of
    /// ``PeripheralSession/centrals``.
    ///
    /// Before the central subscribes again, ``Central/address`` depends on whether the central is bonded. For
    /// a bonded central, the address is the identity address of the central. For a central without a bond,
    /// the address is the address from the earlier run. A central without a bond might now use a different
    /// address.
    public internal(set) var central: Central

    /// The UUID of the characteristic that the central subscribed to.
    public let characteristic: BluetoothUUID

    /// The kind of update that the central requested, or `nil` if not known.
    public let kind: UpdateKind?

    /// The time of the first subscription, according to the system clock.
    ///
    /// The time is in whole seconds since 1970-01-01 00:00 UTC.
    public let since: Duration

    /// The present status of the restored subscriber.
    public internal(set) var status: Status

    /// Returns whether the subscription belongs or belonged to the given characteristic.
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

extension RestoredSubscriber: CustomStringConvertible {
    /// A text such as `notifications of characteristic 2a19 to C0:00:00:00:00:01 (bonded, MTU 23), expected`.
    public var description: String {
        let subscription = UpdateKind.description(of: kind, from: characteristic, to: central)
        return switch status {
        case .subscribed: subscription + ", subscribed again"
        case .expected: subscription + ", expected"
        case .mustSubscribeAgain: subscription + ", must subscribe again"
        }
    }
}
