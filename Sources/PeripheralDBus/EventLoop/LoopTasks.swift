internal import Synchronization

/// A structured scope for work that callbacks on the event loop start and that must not run on it.
///
/// A callback is synchronous and cannot own a task; it hands its work to ``start(_:)``, and the work becomes a child
/// task of ``run()``, on the global executor, where it may block without stalling the loop.
package final class LoopTasks: Sendable {
    package typealias Operation = @concurrent @Sendable () async -> Void

    private struct State {
        var queue: [Operation] = []
        var waiter: CheckedContinuation<[Operation]?, Never>?
        var isFinished = false
    }

    private let loop: EventLoop
    private let state = Mutex(State())

    package init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Hands work to the scope: one hop to the global executor.
    ///
    /// - Returns: False, and the work is dropped, once the scope is finished or cancelled.
    @discardableResult
    package func start(_ operation: @escaping Operation) -> Bool {
        let (waiter, isAccepted) = state.withLock { state in
            guard !state.isFinished else { return (CheckedContinuation<[Operation]?, Never>?.none, false) }
            guard let waiter = state.waiter.take() else {
                state.queue.append(operation)
                return (nil, true)
            }
            return (waiter, true)
        }
        waiter?.resume(returning: [operation])
        return isAccepted
    }

    /// Lets ``run()`` return once the work that it has is done.
    package func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }

    /// Runs what is handed to ``start(_:)`` until ``finish()`` or cancellation, and returns when all of it is done.
    ///
    /// Cancelling the calling task cancels the work that runs.
    package func run() async {
        await withTaskExecutorPreference(loop) {
            await withDiscardingTaskGroup { group in
                while let operations = await next() {
                    for operation in operations {
                        group.addTask(executorPreference: globalConcurrentExecutor, operation: operation)
                    }
                }
            }
        }
    }

    private func next() async -> [Operation]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let available: [Operation]?? = state.withLock { state in
                    if !state.queue.isEmpty {
                        defer { state.queue = [] }
                        return .some(state.queue)
                    }
                    if state.isFinished { return .some(nil) }
                    state.waiter = continuation
                    return nil
                }
                if let available { continuation.resume(returning: available) }
            }
        } onCancel: {
            finish()
        }
    }
}
