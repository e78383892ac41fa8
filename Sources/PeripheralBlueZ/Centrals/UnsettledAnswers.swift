internal import PeripheralCore

/// The answers to `AcquireNotify` that bluetoothd may not have handled yet.
///
/// The list is a pure value. bluetoothd counts a subscription when it handles the answer. If a central
/// unsubscribes before that, the count of another subscription ends (`ccc_write_cb` in gatt-database.c, all
/// versions). bluetoothd then calls `StopNotify`, although the other central is still subscribed.
struct UnsettledAnswers {
    private struct Answer {
        var number: Int
        var characteristic: AttributeHandle
        /// Whether bluetoothd calls `StartNotify` when it handles the answer.
        var isFollowedByStart: Bool
    }

    private var answers: [Answer] = []
    private var lastNumber = 0

    /// Records an answer that is about to be sent.
    ///
    /// - Returns: The number of the answer, for ``settled(_:)``.
    mutating func answered(_ characteristic: AttributeHandle, isFollowedByStart: Bool) -> Int {
        lastNumber += 1
        answers.append(
            Answer(
                number: lastNumber,
                characteristic: characteristic,
                isFollowedByStart: isFollowedByStart
            )
        )
        return lastNumber
    }

    /// Records a call of `StartNotify`.
    ///
    /// - Returns: Whether the call follows an answer, which identifies the subscriber.
    mutating func started(_ characteristic: AttributeHandle) -> Bool {
        let index = answers.firstIndex { $0.isFollowedByStart && $0.characteristic == characteristic }
        guard let index else { return false }
        answers.remove(at: index)
        return true
    }

    /// Records that bluetoothd has handled an answer, or has dropped it because the central has disconnected.
    ///
    /// - Returns: Whether bluetoothd has certainly dropped the answer, because `StartNotify` has not
    ///   followed.
    mutating func settled(_ number: Int) -> Bool {
        guard let index = answers.firstIndex(where: { $0.number == number }) else { return false }
        return answers.remove(at: index).isFollowedByStart
    }

    /// Records that a characteristic no longer exists.
    mutating func removed(_ characteristic: AttributeHandle) {
        answers.removeAll { $0.characteristic == characteristic }
    }

    /// Returns whether bluetoothd may have called `StopNotify` before it handled an answer.
    func hasSome(for characteristic: AttributeHandle) -> Bool {
        answers.contains { $0.characteristic == characteristic }
    }
}
