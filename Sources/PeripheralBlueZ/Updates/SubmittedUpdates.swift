internal import PeripheralKit
internal import Synchronization

/// The updates that were submitted on any thread, until the loop takes them.
final class SubmittedUpdates: Sendable {
    private let updates = Mutex<[BackendUpdate]>([])

    /// Adds updates.
    ///
    /// - Returns: Whether there were none before, so that the loop must be told to take them.
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

    /// Takes the updates that satisfy a predicate.
    func take(where isTaken: (BackendUpdate) -> Bool) -> [BackendUpdate] {
        updates.withLock { updates in
            let taken = updates.filter(isTaken)
            updates.removeAll(where: isTaken)
            return taken
        }
    }
}
