internal import PeripheralKit
internal import Synchronization

/// The updates that were submitted on any thread, until the loop removes them.
final class SubmittedUpdates: Sendable {
    private let updates = Mutex<[BackendUpdate]>([])

    /// Adds updates.
    ///
    /// - Returns: Whether the list was empty, which means that the loop must be notified.
    func append(_ new: [BackendUpdate]) -> Bool {
        updates.withLock { updates in
            defer { updates += new }
            return updates.isEmpty
        }
    }

    func takeAll() -> [BackendUpdate] {
        updates.withLock { updates in
            defer { updates = [] }
            return updates
        }
    }

    /// Removes and returns the updates that satisfy a predicate.
    func take(where isTaken: (BackendUpdate) -> Bool) -> [BackendUpdate] {
        updates.withLock { updates in
            let taken = updates.filter(isTaken)
            updates.removeAll(where: isTaken)
            return taken
        }
    }
}
