private import Synchronization

/// Passes each event on to all who listen at the time.
final class EventBroadcast<Event: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var nextNumber: UInt64 = 0
        var isFinished = false
        /// What waits for the first who listens; `nil` once somebody has.
        var early: [Event]? = []
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: How many events are kept for a listener that does not take them; the oldest go first.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// What happens from now on, for the first who listens after what was to be kept until then.
    ///
    /// - Parameter takesKept: Whether the listener is one whom that is kept for.
    /// - Returns: The events, until all ends.
    func listen(takingKept takesKept: Bool = true) -> AsyncStream<Event> {
        let (events, listener) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingNewest(capacity)
        )
        let number = state.withLock { state -> UInt64? in
            guard !state.isFinished else { return nil }
            defer { state.nextNumber += 1 }
            // Inside the lock, so that what comes next comes behind it.
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
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return events
    }

    /// Passes an event on, after all before it.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isKept: Whether it is kept for the first who listens, when nobody has yet.
    func send(_ event: Event, keeping isKept: Bool = false) {
        let listeners = state.withLock { state in
            if isKept, let count = state.early?.count {
                if count == capacity { state.early?.removeFirst() }
                state.early?.append(event)
            }
            return state.listeners.values
        }
        for listener in listeners { listener.yield(event) }
    }

    /// Ends the sequences of all who listen, and of those who come later.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
