internal import PeripheralCore
private import Synchronization

/// The updates that a virtual central has received in one connection, until the test reads them.
final class UpdateInbox: VirtualLink {
    /// An update, with the value handle of its characteristic.
    typealias Arrival = (characteristic: AttributeHandle, update: ReceivedUpdate)

    private struct Waiter {
        let id: Int
        /// `nil` for any characteristic.
        let characteristic: AttributeHandle?
        let continuation: CheckedContinuation<Arrival, any Error>
    }

    private struct State {
        var isOpen = true
        var confirmsIndications = true
        var arrivals: [Arrival] = []
        var waiters: [Waiter] = []
        var lastID = 0

        mutating func take(of characteristic: AttributeHandle?) -> Arrival? {
            guard
                let index = arrivals.firstIndex(where: {
                    characteristic == nil || $0.characteristic == characteristic
                })
            else { return nil }
            return arrivals.remove(at: index)
        }
    }

    private let state = Mutex(State())

    /// Whether further updates may arrive.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether the central confirms each indication when it arrives.
    var confirmsIndications: Bool {
        get { state.withLock { $0.confirmsIndications } }
        set { state.withLock { $0.confirmsIndications = newValue } }
    }

    func received(_ update: ReceivedUpdate, of handle: AttributeHandle) -> Bool {
        let (waiter, isConfirmed): (Waiter?, Bool) = state.withLock { state in
            let index = state.waiters.firstIndex { ($0.characteristic ?? handle) == handle }
            if index == nil { state.arrivals.append((handle, update)) }
            return (index.map { state.waiters.remove(at: $0) }, state.confirmsIndications)
        }
        waiter?.continuation.resume(returning: (handle, update))
        return isConfirmed
    }

    func disconnected() {
        let waiters = state.withLock { state in
            state.isOpen = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters {
            waiter.continuation.resume(throwing: TestCentralError.connectionEnded)
        }
    }

    /// Removes and returns the oldest update of a characteristic, or of any characteristic for `nil`.
    func take(of characteristic: AttributeHandle?) -> Arrival? {
        state.withLock { $0.take(of: characteristic) }
    }

    /// Waits for an update of a characteristic, or of any characteristic for `nil`.
    ///
    /// - Throws: `TestCentralError` with the code `disconnected`, or `CancellationError`.
    func next(of characteristic: AttributeHandle?) async throws -> Arrival {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(Waiter(id: id, characteristic: characteristic, continuation: continuation))
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func enqueue(_ waiter: Waiter) {
        let outcome: Result<Arrival, any Error>? = state.withLock { state in
            // The cancellation handler may have run before the waiter was added.
            if Task.isCancelled { return .failure(CancellationError()) }
            if let arrival = state.take(of: waiter.characteristic) { return .success(arrival) }
            guard state.isOpen else { return .failure(TestCentralError.connectionEnded) }
            state.waiters.append(waiter)
            return nil
        }
        if let outcome { waiter.continuation.resume(with: outcome) }
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
