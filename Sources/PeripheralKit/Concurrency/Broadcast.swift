private import Synchronization

/// Forwards each event to all current listeners.
final class Broadcast<Event: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var nextNumber: UInt64 = 0
        var isFinished = false
        /// The events buffered for the first listener; `nil` after the first listener has received them.
        var early: [Event]? = []

        mutating func remove(_ ended: Set<UInt64>) {
            for number in ended { listeners[number] = nil }
        }
    }

    private let capacity: Int
    private let state = Mutex(State())
    /// The listeners that have ended and are still in `listeners`.
    ///
    /// When a task is cancelled, Swift ends its sequences while it holds a lock of the task. `yield` needs
    /// the same lock to resume the task. So the end of a sequence must not wait for `state`.
    private let ended = Mutex<Set<UInt64>>([])

    /// - Parameter capacity: The maximum number of events buffered for a listener. The oldest events are
    ///   dropped first.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Returns the events that follow this call.
    ///
    /// The first listener also receives the events that were buffered earlier.
    ///
    /// - Parameters:
    ///   - first: An event that only this listener receives, before all others.
    ///   - takesKept: Whether this listener can receive the buffered events.
    /// - Returns: The events, until ``finish()``.
    func listen(startingWith first: Event? = nil, takingKept takesKept: Bool = true) -> AsyncStream<Event> {
        let (events, listener) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingNewest(capacity)
        )
        let number = state.withLock { state -> UInt64? in
            guard !state.isFinished else { return nil }
            defer { state.nextNumber += 1 }
            state.remove(takeEnded())
            if let first { listener.yield(first) }
            // Inside the lock, so that later events follow the buffered events.
            if takesKept {
                for event in state.early.take() ?? [] { listener.yield(event) }
            }
            state.listeners[state.nextNumber] = listener
            return state.nextNumber
        }
        guard let number else {
            listener.finish()
            return events
        }
        listener.onTermination = { [weak self] _ in
            _ = self?.ended.withLock { $0.insert(number) }
        }
        return events
    }

    /// Forwards an event, after all earlier events.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isKept: Whether to buffer the event for the first listener, if no listener has begun yet.
    func send(_ event: Event, keeping isKept: Bool = false) {
        // Inside the lock, so that all listeners receive the events in the same order.
        state.withLock { state in
            state.remove(takeEnded())
            if isKept, let count = state.early?.count {
                if count == capacity { state.early?.removeFirst() }
                state.early?.append(event)
            }
            for listener in state.listeners.values { listener.yield(event) }
        }
    }

    private func takeEnded() -> Set<UInt64> {
        ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
    }

    /// Ends the sequences of all current and later listeners.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
