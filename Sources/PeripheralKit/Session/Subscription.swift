public import PeripheralCore

/// A central's subscription to a characteristic.
public struct Subscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber, with its MTU if the MTU is known.
    ///
    /// The central is `nil` when the Bluetooth stack does not identify the subscriber. Some stacks may not
    /// identify a central that unsubscribes while other centrals are subscribed. With such a stack, the
    /// subscription remains until the central disconnects, or until the characteristic has no subscribers.
    public let central: Central?

    /// Whether the central has asked for notifications or indications; `nil` if that is not known.
    ///
    /// Some Bluetooth stacks do not report the kind. With such a stack, the kind is known only for a
    /// characteristic that has just one of the properties `.notify` and `.indicate`.
    public let kind: UpdateKind?

    /// The value handle of the characteristic in the publication's table.
    let handle: AttributeHandle
}
