private import Synchronization

/// Gives turns to tasks one at a time, in the order of their requests.
package final class Turns: Sendable {
    private struct Waiter {
        var number: UInt64
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var isTaken = false
        var isClosed = false
        var nextNumber: UInt64 = 0
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits for a turn, which ends with ``leave()``.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped` if the turns are closed, or `CancellationError`.
    package func enter() async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        let hasEntered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // The cancellation handler may have run before the task waited.
                    if state.isClosed || Task.isCancelled { return false }
                    if !state.isTaken {
                        state.isTaken = true
                        return true
                    }
                    state.waiters.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        guard hasEntered else {
            try Task.checkCancellation()
            throw PeripheralError.stopped
        }
    }

    /// Takes a turn, if no task has one.
    package func tryEnter() -> Bool {
        state.withLock { state in
            guard !state.isTaken, !state.isClosed else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Ends the turn.
    package func leave() {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiters.removeFirst()
        }
        waiter?.continuation.resume(returning: true)
    }

    /// Refuses all waiting tasks and all later calls.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }
}
