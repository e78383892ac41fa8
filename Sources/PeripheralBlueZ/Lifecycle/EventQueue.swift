internal import Synchronization

/// What has happened and is not dealt with yet.
///
/// Anybody adds, one task takes. What waits already moves to the end: the queue is no longer than there are kinds of
/// elements, however often something happens, and of two that contradict each other, the newer comes last.
final class EventQueue<Element: Equatable & Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var taker: CheckedContinuation<Element, Never>?
    }

    private let state = Mutex(State())

    func add(_ element: Element) {
        let taker = state.withLock { state -> CheckedContinuation<Element, Never>? in
            if let taker = state.taker.take() { return taker }
            state.waiting.removeAll { $0 == element }
            state.waiting.append(element)
            return nil
        }
        taker?.resume(returning: element)
    }

    /// Takes the element that came first, and waits for one when there is none.
    func next() async -> Element {
        await withCheckedContinuation { continuation in
            let first = state.withLock { state -> Element? in
                guard !state.waiting.isEmpty else {
                    state.taker = continuation
                    return nil
                }
                return state.waiting.removeFirst()
            }
            if let first { continuation.resume(returning: first) }
        }
    }
}
