internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralTesting
internal import Synchronization

/// How many subscriptions bluetoothd counts for each characteristic of an application.
///
/// It tells the application of each that begins, but only when the last one has ended. A central that goes from
/// notifications to indications counts twice, so that its end is not the last one (BlueZ, gatt-database.c).
final class SubscriptionCounts: Sendable {
    private let counts = Mutex<[AttributeHandle: Int]>([:])

    /// The method that the application is told by, if it is told.
    func method(for change: SubscriptionChange) -> MemberName? {
        counts.withLock { counts in
            let count = counts[change.characteristic, default: 0]
            if change.to == 0 {
                counts[change.characteristic] = max(count - 1, 0)
                return count == 1 ? "StopNotify" : nil
            }
            counts[change.characteristic] = count + 1
            return "StartNotify"
        }
    }
}
