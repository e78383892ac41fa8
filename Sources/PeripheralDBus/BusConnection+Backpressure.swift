/// Somebody who waits for the outgoing queue to shrink, or for those who came before.
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

    /// Has the waiter look whether it is its turn.
    func wake() {
        continuation.take()?.resume()
    }

    func fail(_ error: BusError) {
        failure = failure ?? error
        wake()
    }
}

extension BusConnection {
    /// Bytes that are sent, as far as this side is concerned, and that the bus has not taken yet.
    package var outgoingSize: Int { transport.outgoingSize }

    /// Waits until the bus has taken all but `bound` bytes of what was sent.
    ///
    /// Those who wait go on in the order in which they came, one at a time: what one sends before it suspends again
    /// counts for the next.
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
            // It runs after what the caller does until it suspends again.
            wakeFirstDrainWaiter()
        }
        while drainWaiters.first !== waiter || outgoingSize > bound {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // By its number: Swift 6.2 takes the waiter itself, in here, for a data race.
                    drainWaiters.first { $0.identifier == identifier }?.wait(with: continuation)
                    // The bus may have taken everything on the way here, and it tells only once.
                    wakeFirstDrainWaiter()
                }
            } onCancel: {
                loop.execute { self.assumeIsolated { $0.cancelDrainWaiter(identifier) } }
            }
            if let failure = waiter.failure { throw failure }
        }
    }

    /// The queue may be shorter: who has waited longest may be able to go on.
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
