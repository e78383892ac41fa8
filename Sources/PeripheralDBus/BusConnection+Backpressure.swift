/// Somebody who waits for the outgoing queue to shrink.
struct DrainWaiter {
    let identifier: UInt64
    let bound: Int
    let timer: LoopSource
    let continuation: CheckedContinuation<Result<Void, BusError>, Never>

    func finish(_ result: Result<Void, BusError>) {
        timer.cancel()
        continuation.resume(returning: result)
    }
}

extension BusConnection {
    /// Bytes that are sent, as far as this side is concerned, and that the bus has not taken yet.
    package var outgoingSize: Int { transport.outgoingSize }

    /// Waits until the bus has taken all but `bound` bytes of what was sent.
    ///
    /// - Throws: ``BusError/timedOut``, ``BusError/cancelled`` or ``BusError/disconnected``.
    package func waitUntilOutgoing(
        isAtMost bound: Int,
        timeout: Duration = .seconds(25)
    ) async throws(BusError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard phase == .open || phase == .opening else { throw .disconnected }
        guard outgoingSize > bound else { return }
        let identifier = nextIdentifier()
        let result: Result<Void, BusError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let timer = loop.schedule(after: timeout) { [weak self] in
                    self?.assumeIsolated { $0.finishWait(identifier, with: .timedOut) }
                }
                drainWaiters.append(
                    DrainWaiter(
                        identifier: identifier,
                        bound: bound,
                        timer: timer,
                        continuation: continuation
                    )
                )
            }
        } onCancel: {
            loop.execute { self.assumeIsolated { $0.finishWait(identifier, with: .cancelled) } }
        }
        try result.get()
    }

    /// The socket took something: those whose bound is reached go on.
    func outgoingQueueMoved() {
        guard !drainWaiters.isEmpty else { return }
        let size = outgoingSize
        let served = drainWaiters.filter { size <= $0.bound }
        drainWaiters.removeAll { size <= $0.bound }
        for waiter in served { waiter.finish(.success(())) }
    }

    func failDrainWaiters() {
        let waiters = drainWaiters
        drainWaiters = []
        for waiter in waiters { waiter.finish(.failure(.disconnected)) }
    }

    private func finishWait(_ identifier: UInt64, with error: BusError) {
        guard let index = drainWaiters.firstIndex(where: { $0.identifier == identifier }) else { return }
        drainWaiters.remove(at: index).finish(.failure(error))
    }
}
