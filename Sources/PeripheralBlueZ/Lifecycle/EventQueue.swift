internal import Synchronization

/// A queue of events that are not handled yet.
///
/// Any task can add events; one task takes them. An event that already waits moves to the end. So the queue
/// never has more elements than there are different events, and of two contradictory events, the newer comes
/// last.
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

    /// Takes the first element, and waits if there is none.
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
