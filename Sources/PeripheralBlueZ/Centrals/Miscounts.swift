internal import PeripheralCore

/// Where bluetoothd before 5.76 is known to count the subscriptions to a characteristic wrongly.
///
/// A pure value. bluetoothd tells the end of subscriptions only when its count comes to 0 (`ccc_write_cb` in
/// gatt-database.c). A central that changes its mind before `AcquireNotify` is answered leaves a wrong count
/// behind.
struct Miscounts {
    /// Counted too low: the count can come to 0 while somebody is subscribed.
    private var tooLow: Set<AttributeHandle> = []
    /// Counted too high: without a subscriber, the count is not 0.
    private var tooHigh: Set<AttributeHandle> = []
    /// Where the last subscriber has just left, which bluetoothd tells if its count is right.
    private var awaitedStops: Set<AttributeHandle> = []

    func isTooLow(_ characteristic: AttributeHandle) -> Bool { tooLow.contains(characteristic) }

    func isTooHigh(_ characteristic: AttributeHandle) -> Bool { tooHigh.contains(characteristic) }

    /// Takes note that bluetoothd has dropped an answer, since the central has left.
    ///
    /// bluetoothd has counted the end of the subscription, but not its beginning.
    ///
    /// - Parameters:
    ///   - characteristic: To what the central has subscribed.
    ///   - countsOthers: Whether bluetoothd can count others; its count does not go below 0.
    mutating func answerDropped(_ characteristic: AttributeHandle, countsOthers: Bool) {
        awaitedStops.remove(characteristic)
        if countsOthers { tooLow.insert(characteristic) }
    }

    /// Takes note of a subscription.
    ///
    /// - Parameters:
    ///   - characteristic: To what.
    ///   - isCorrected: Whether the count is right thereafter.
    mutating func subscribed(to characteristic: AttributeHandle, isCorrected: Bool) {
        awaitedStops.remove(characteristic)
        guard isCorrected else { return }
        tooLow.remove(characteristic)
        tooHigh.remove(characteristic)
    }

    /// Takes note that the last subscriber has left who was not bonded.
    ///
    /// - Returns: Whether ``settleLeaving(_:)`` is to be called in a moment.
    mutating func lastLeft(_ characteristic: AttributeHandle) -> Bool {
        // The count was 0 before, perhaps.
        guard tooLow.remove(characteristic) == nil else { return false }
        awaitedStops.insert(characteristic)
        return true
    }

    /// Takes note that the moment is over in which bluetoothd tells that the last subscriber has left.
    mutating func settleLeaving(_ characteristic: AttributeHandle) {
        if awaitedStops.remove(characteristic) != nil { tooHigh.insert(characteristic) }
    }

    /// Takes note of a call of `StopNotify`: the count is 0, and nobody is subscribed.
    mutating func stopped(_ characteristic: AttributeHandle) {
        tooLow.remove(characteristic)
        tooHigh.remove(characteristic)
        awaitedStops.remove(characteristic)
    }
}
