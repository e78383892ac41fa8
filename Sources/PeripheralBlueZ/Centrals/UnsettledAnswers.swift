internal import PeripheralCore

/// The answers to `AcquireNotify` that bluetoothd may not have taken yet.
///
/// A pure value. bluetoothd counts a subscription when it takes the answer. A central that unsubscribes
/// before that ends the count of another subscription (`ccc_write_cb` in gatt-database.c, all versions).
/// bluetoothd then calls `StopNotify`, although the other central is still subscribed.
struct UnsettledAnswers {
    private struct BackendAnswer {
        var number: Int
        var characteristic: AttributeHandle
        /// Whether bluetoothd calls `StartNotify` when it takes the answer.
        var isFollowedByStart: Bool
    }

    private var answers: [BackendAnswer] = []
    private var lastNumber = 0

    /// Records an answer that is about to be sent.
    ///
    /// - Returns: Its number, for ``settled(_:)``.
    mutating func answered(_ characteristic: AttributeHandle, isFollowedByStart: Bool) -> Int {
        lastNumber += 1
        answers.append(
            BackendAnswer(
                number: lastNumber,
                characteristic: characteristic,
                isFollowedByStart: isFollowedByStart
            )
        )
        return lastNumber
    }

    /// Records a call of `StartNotify`.
    ///
    /// - Returns: Whether it follows an answer, so that the subscriber is known.
    mutating func started(_ characteristic: AttributeHandle) -> Bool {
        let index = answers.firstIndex { $0.isFollowedByStart && $0.characteristic == characteristic }
        guard let index else { return false }
        answers.remove(at: index)
        return true
    }

    /// Records that bluetoothd has taken an answer, or dropped it because the central is gone.
    ///
    /// - Returns: Whether it is known to be dropped: `StartNotify` has not followed.
    mutating func settled(_ number: Int) -> Bool {
        guard let index = answers.firstIndex(where: { $0.number == number }) else { return false }
        return answers.remove(at: index).isFollowedByStart
    }

    /// Whether bluetoothd may have sent a call of `StopNotify` before it took an answer.
    func hasSome(for characteristic: AttributeHandle) -> Bool {
        answers.contains { $0.characteristic == characteristic }
    }
}
