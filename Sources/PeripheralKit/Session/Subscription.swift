public import PeripheralCore

/// A central's subscription to a characteristic.
public struct Subscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber, with its MTU as far as it is known.
    ///
    /// It is `nil` when the Bluetooth stack does not identify the subscriber. Some stacks identify a central
    /// that subscribes, but not always a central that unsubscribes while others are subscribed. Such a
    /// subscription remains until its central disconnects, or until there are no subscribers.
    public let central: Central?

    /// What the central has asked for; `nil` when the Bluetooth stack does not report it.
    ///
    /// If the stack does not report it, the kind is known only for a characteristic that has just one of the
    /// properties `.notify` and `.indicate`.
    public let kind: UpdateKind?

    /// The value handle of the characteristic in the publication's table.
    let handle: AttributeHandle
}
