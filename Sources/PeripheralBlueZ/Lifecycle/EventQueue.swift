internal import Synchronization

/// A queue of events that are not handled yet.
///
/// Any task can add events. One task removes and handles the events. If an event that is already in the queue
/// is added again, the event moves to the end. Therefore each event is in the queue at most once, and the
/// newer of two contradictory events is last.
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

    /// Removes and returns the first event, and waits if the queue is empty.
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
