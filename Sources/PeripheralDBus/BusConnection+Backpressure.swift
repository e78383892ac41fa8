/// A caller that waits for the outgoing queue to shrink, or for earlier callers.
///
/// Belongs to its ``BusConnection`` and is used on the loop only.
final class DrainWaiter {
    let identifier: UInt64
    let bound: Int
    private var continuation: CheckedContinuation<Void, Never>?
    private(set) var failure: BusError?

    init(identifier: UInt64, bound: Int) {
        self.identifier = identifier
        self.bound = bound
    }

    func wait(with continuation: CheckedContinuation<Void, Never>) {
        guard failure == nil else { return continuation.resume() }
        self.continuation = continuation
    }

    /// Resumes the waiter, which then checks whether it is its turn.
    func wake() {
        continuation.take()?.resume()
    }

    func fail(_ error: BusError) {
        failure = failure ?? error
        wake()
    }
}

extension BusConnection {
    /// The number of sent bytes that the bus has not read yet.
    package var outgoingSize: Int { transport.outgoingSize }

    /// Waits until at most `bound` sent bytes remain that the bus has not read.
    ///
    /// Waiting callers resume one at a time, in the order of their calls. The messages that one caller sends
    /// before it suspends again count for the next caller.
    ///
    /// - Throws: ``BusError/timedOut``, ``BusError/cancelled`` or ``BusError/disconnected``.
    package func waitUntilOutgoing(
        isAtMost bound: Int,
        timeout: Duration = .seconds(25)
    ) async throws(BusError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard phase == .open || phase == .opening else { throw .disconnected }
        guard !drainWaiters.isEmpty || outgoingSize > bound else { return }
        let identifier = nextIdentifier()
        let waiter = DrainWaiter(identifier: identifier, bound: bound)
        let timer = loop.schedule(after: timeout) { waiter.fail(.timedOut) }
        drainWaiters.append(waiter)
        defer {
            timer.cancel()
            drainWaiters.removeAll { $0 === waiter }
            // The next waiter runs after this caller has sent its messages and suspended again.
            wakeFirstDrainWaiter()
        }
        while drainWaiters.first !== waiter || outgoingSize > bound {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // Looked up by its identifier: Swift 6.2 reports a data race if this closure captures the
                    // waiter.
                    drainWaiters.first { $0.identifier == identifier }?.wait(with: continuation)
                    // The bus may have read everything in the meantime, and that is signaled only once.
                    wakeFirstDrainWaiter()
                }
            } onCancel: {
                loop.execute { self.assumeIsolated { $0.cancelDrainWaiter(identifier) } }
            }
            if let failure = waiter.failure { throw failure }
        }
    }

    /// Wakes the longest-waiting caller if the queue is now short enough for it.
    func wakeFirstDrainWaiter() {
        guard let first = drainWaiters.first, outgoingSize <= first.bound else { return }
        first.wake()
    }

    func failDrainWaiters() {
        for waiter in drainWaiters { waiter.fail(.disconnected) }
    }

    private func cancelDrainWaiter(_ identifier: UInt64) {
        drainWaiters.first { $0.identifier == identifier }?.fail(.cancelled)
    }
}
