public import PeripheralCore

/// A central's subscription to a characteristic.
public struct Subscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// Who has subscribed, with the MTU as far as it is known; `nil` where the Bluetooth stack does not tell.
    ///
    /// BlueZ tells who subscribes. Before 5.76, it does not tell who ends a subscription while others have subscribed as
    /// well: that subscription stands until its central leaves, or nobody is subscribed any more. From 5.76 on, the same
    /// holds for a bonded central that has come back to its subscription, and for one whose way to it BlueZ has closed by
    /// mistake when another left.
    public let central: Central?

    /// What the central has asked for; `nil` where the Bluetooth stack does not tell.
    ///
    /// BlueZ does not; there it is known for a characteristic that has only one of the properties `.notify` and
    /// `.indicate`.
    public let kind: UpdateKind?

    /// The characteristic, by its value handle in the publication's table.
    let handle: AttributeHandle
}
