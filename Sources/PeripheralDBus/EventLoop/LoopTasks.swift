internal import Synchronization

/// A structured scope for work that loop callbacks start but that must not run on the loop.
///
/// A callback is synchronous and cannot own a task. It passes its work to ``start(_:)``. The work becomes a
/// child task of ``run()`` on the global executor, where it may block without stalling the loop.
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

    /// Passes work to the scope, which costs one hop to the global executor.
    ///
    /// - Returns: `false` if the scope is finished or cancelled. The work is then dropped.
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

    /// Makes ``run()`` return when its current work is done.
    package func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }

    /// Runs the work passed to ``start(_:)`` until ``finish()`` or cancellation.
    ///
    /// The method returns when all of the work is done.
    ///
    /// Cancelling the calling task cancels the running work.
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
