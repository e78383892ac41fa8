internal import PeripheralCore

/// Tracks the characteristics whose subscriptions bluetoothd before 5.76 counts wrongly.
///
/// The tracker is a pure value. bluetoothd reports the end of subscriptions only when its count reaches 0
/// (`ccc_write_cb` in gatt-database.c). If a central subscribes and unsubscribes before `AcquireNotify` is
/// answered, the count becomes wrong.
struct Miscounts {
    /// The characteristics counted too low: the count can reach 0 while a central is subscribed.
    private var tooLow: Set<AttributeHandle> = []
    /// The characteristics counted too high: without a subscriber, the count is not 0.
    private var tooHigh: Set<AttributeHandle> = []
    /// The characteristics whose last subscriber has just disconnected.
    ///
    /// bluetoothd reports this disconnection if its count is right.
    private var awaitedStops: Set<AttributeHandle> = []

    func isTooLow(_ characteristic: AttributeHandle) -> Bool { tooLow.contains(characteristic) }

    func isTooHigh(_ characteristic: AttributeHandle) -> Bool { tooHigh.contains(characteristic) }

    /// Records that bluetoothd has dropped an answer, because the central has disconnected.
    ///
    /// bluetoothd has counted the end of the subscription, but not its beginning.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic to which the central has subscribed.
    ///   - countsOthers: Whether bluetoothd can count other subscribers. The count does not go below 0.
    mutating func answerDropped(_ characteristic: AttributeHandle, countsOthers: Bool) {
        awaitedStops.remove(characteristic)
        if countsOthers { tooLow.insert(characteristic) }
    }

    /// Records a subscription.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - isCorrected: Whether the count is right after the subscription.
    mutating func subscribed(to characteristic: AttributeHandle, isCorrected: Bool) {
        awaitedStops.remove(characteristic)
        guard isCorrected else { return }
        tooLow.remove(characteristic)
        tooHigh.remove(characteristic)
    }

    /// Records that the last subscriber, which was not bonded, has disconnected.
    ///
    /// - Returns: Whether ``settleLeaving(_:)`` must be called in a moment.
    mutating func lastLeft(_ characteristic: AttributeHandle) -> Bool {
        // The count may have been 0 before.
        guard tooLow.remove(characteristic) == nil else { return false }
        awaitedStops.insert(characteristic)
        return true
    }

    /// Records the end of the time in which bluetoothd reports that the last subscriber has disconnected.
    mutating func settleLeaving(_ characteristic: AttributeHandle) {
        if awaitedStops.remove(characteristic) != nil { tooHigh.insert(characteristic) }
    }

    /// Records a call of `StopNotify`: the count is 0, and no central is subscribed.
    mutating func stopped(_ characteristic: AttributeHandle) {
        tooLow.remove(characteristic)
        tooHigh.remove(characteristic)
        awaitedStops.remove(characteristic)
    }
}
