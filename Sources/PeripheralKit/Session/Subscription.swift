public import PeripheralCore

/// A central's subscription to a characteristic.
public struct Subscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// The central that has subscribed, with its MTU if the MTU is known.
    ///
    /// The central is `nil` if the Bluetooth stack does not identify the subscriber. While several centrals
    /// are subscribed, some Bluetooth stacks might not identify a central that unsubscribes. The subscription
    /// of an unidentified central remains until that central disconnects, or until the characteristic has no
    /// subscribers.
    public let central: Central?

    /// Whether the central has asked for notifications or indications.
    ///
    /// The kind of a subscription is `nil` if the kind is not known.
    ///
    /// Some Bluetooth stacks do not report the kind of a subscription. If the Bluetooth stack does not report
    /// the kind, the kind is known only if the characteristic has exactly one of the properties `.notify` and
    /// `.indicate`.
    public let kind: UpdateKind?

    /// The value handle of the characteristic in the publication's table.
    let handle: AttributeHandle
}
