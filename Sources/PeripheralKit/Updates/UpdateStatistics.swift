public import PeripheralCore

/// The counted updates of a characteristic.
///
/// ``PeripheralSession/updateStatistics`` counts the updates to one subscriber.
/// ``PeripheralSession/updateTotals`` counts the updates to all subscribers.
public struct UpdateStatistics: Hashable, Sendable {
    /// The characteristic.
    public let characteristic: BluetoothUUID

    /// The subscriber, or `nil` for several subscribers together.
    ///
    /// In ``PeripheralSession/updateStatistics``, the subscriber is `nil` if the Bluetooth stack cannot send
    /// updates to each subscriber separately. The subscriber is always `nil` for values that
    /// ``PeripheralSession/indicate(_:_:)`` sends to all subscribers.
    public let central: Central.ID?

    /// The numbers of updates in each state.
    public let counters: UpdateCounters
}

extension UpdateStatistics: CustomStringConvertible {
    /// A text such as `characteristic 2a19 to C0:00:00:00:00:01: 2 queued, 16 sent`.
    public var description: String {
        "characteristic \(characteristic) to \(central?.description ?? "all subscribers"): \(counters)"
    }
}
