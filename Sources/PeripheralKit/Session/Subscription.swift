public import PeripheralCore

/// A central's subscription to a characteristic.
public struct Subscription: Hashable, Sendable {
    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID

    /// The central that has subscribed, with its MTU if the MTU is known.
    ///
    /// The central is `nil` if the Bluetooth stack does not identify the subscriber. If a characteristic has
    /// several subscribers, some Bluetooth stacks do not report which central has unsubscribed. Without this
    /// report, the session keeps the subscription until the central disconnects, or until the characteristic
    /// has no subscribers.
    public let central: Central?

    /// The kind of updates that the central has requested: notifications or indications.
    ///
    /// The property is `nil` if the kind is not known.
    ///
    /// Some Bluetooth stacks do not report the kind of a subscription. If the Bluetooth stack does not report
    /// the kind, the kind depends on the properties of the characteristic. If the characteristic has only one
    /// of the properties `.notify` and `.indicate`, that property determines the kind. If the characteristic
    /// has both properties, the kind is not known.
    public let kind: UpdateKind?

    /// The value handle of the characteristic in the publication's table.
    let handle: AttributeHandle

    /// Returns whether the subscription is a subscription of this central, or may be one.
    ///
    /// Some Bluetooth stacks report a subscription but do not report which central has subscribed. The
    /// function then returns `true` for every central.
    public func mayBe(of central: Central) -> Bool { mayBe(of: central.id) }

    func mayBe(of id: Central.ID) -> Bool { central.map { $0.id == id } ?? true }
}

extension Subscription: CustomStringConvertible {
    /// A text such as `notifications of characteristic 2a19 to C0:00:00:00:00:01 (random, MTU 185)`.
    public var description: String { UpdateKind.description(of: kind, from: characteristic, to: central) }
}

extension UpdateKind {
    /// Describes a subscription for a person.
    static func description(
        of kind: UpdateKind?,
        from characteristic: BluetoothUUID,
        to central: Central?
    ) -> String {
        "\(kind.map { "\($0)" } ?? "update")s of characteristic \(characteristic) to "
            + (central?.description ?? "an unknown central")
    }
}
