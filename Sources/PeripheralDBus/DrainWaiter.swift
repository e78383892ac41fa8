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
