internal import PeripheralCore
private import Synchronization

/// The updates that a virtual central has received in one connection, until the test takes them.
final class UpdateInbox: VirtualLink {
    private typealias Waiter = CheckedContinuation<ReceivedUpdate, any Error>

    private struct State {
        var isOpen = true
        var confirmsIndications = true
        var updates: [AttributeHandle: [ReceivedUpdate]] = [:]
        var waiters: [AttributeHandle: [(id: Int, continuation: Waiter)]] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// Whether there may be further updates.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether indications are confirmed as they arrive.
    var confirmsIndications: Bool {
        get { state.withLock { $0.confirmsIndications } }
        set { state.withLock { $0.confirmsIndications = newValue } }
    }

    func received(_ update: ReceivedUpdate, of handle: AttributeHandle) -> Bool {
        let (waiter, isConfirmed): (Waiter?, Bool) = state.withLock { state in
            guard var waiters = state.waiters[handle], !waiters.isEmpty else {
                state.updates[handle, default: []].append(update)
                return (nil, state.confirmsIndications)
            }
            defer { state.waiters[handle] = waiters }
            return (waiters.removeFirst().continuation, state.confirmsIndications)
        }
        waiter?.resume(returning: update)
        return isConfirmed
    }

    func disconnected() {
        let waiters = state.withLock { state in
            state.isOpen = false
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap { $0 }
        }
        for waiter in waiters {
            waiter.continuation.resume(throwing: TestCentralError.connectionEnded)
        }
    }

    /// The oldest update that nobody has taken, if there is one.
    func take(of handle: AttributeHandle) -> ReceivedUpdate? {
        state.withLock { state in
            guard state.updates[handle]?.isEmpty == false else { return nil }
            return state.updates[handle]?.removeFirst()
        }
    }

    /// Waits for an update.
    ///
    /// - Throws: ``TestCentralError`` with the code `disconnected`, or `CancellationError`.
    func next(of handle: AttributeHandle) async throws -> ReceivedUpdate {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(continuation, id: id, for: handle)
            }
        } onCancel: {
            giveUp(id, of: handle)
        }
    }

    private func enqueue(_ continuation: Waiter, id: Int, for handle: AttributeHandle) {
        let outcome: Result<ReceivedUpdate, any Error>? = state.withLock { state in
            // The cancellation handler may have run before, and found nobody.
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.updates[handle]?.isEmpty == false, let update = state.updates[handle]?.removeFirst() {
                return .success(update)
            }
            guard state.isOpen else { return .failure(TestCentralError.connectionEnded) }
            state.waiters[handle, default: []].append((id, continuation))
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    private func giveUp(_ id: Int, of handle: AttributeHandle) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters[handle]?.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters[handle]?.remove(at: index).continuation
        }
        waiter?.resume(throwing: CancellationError())
    }
}
