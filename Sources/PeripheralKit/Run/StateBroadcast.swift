private import Synchronization

/// The state of a peripheral, and the listeners to changes of the state.
final class StateBroadcast: Sendable {
    fileprivate struct State {
        var current = PeripheralState.initial
        /// Whether the backend of this run reports the state itself.
        var isReported = false
        var listeners: [UInt64: AsyncStream<PeripheralState>.Continuation] = [:]
        var nextNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    var current: PeripheralState { state.withLock { $0.current } }

    /// Returns the current state, followed by each later state.
    func listen() -> AsyncStream<PeripheralState> {
        // A slow listener misses the oldest states, because only the current state matters.
        let (states, listener) = AsyncStream.makeStream(
            of: PeripheralState.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        let number = state.withLock { state -> UInt64 in
            defer { state.nextNumber += 1 }
            state.listeners[state.nextNumber] = listener
            // Inside the lock, so that no newer state precedes this state.
            listener.yield(state.current)
            return state.nextNumber
        }
        listener.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return states
    }

    /// Sets the state that a backend reports.
    func report(_ new: PeripheralState) {
        state.withLock { state in
            state.isReported = true
            state.change { $0 = new }
        }
    }

    /// Sets the state that follows from an event, for a backend that reports no states.
    ///
    /// A backend that reports states may have reported a loss of the stack before it delivers an earlier
    /// event.
    func assume(_ new: PeripheralState) {
        state.withLock { state in
            if !state.isReported { state.change { $0 = new } }
        }
    }

    /// Resets the state to the initial state of a run.
    func reset() {
        state.withLock { state in
            state.isReported = false
            state.change { $0 = .initial }
        }
    }

    /// Changes the state.
    func change(_ change: (inout PeripheralState) -> Void) {
        state.withLock { $0.change(change) }
    }
}

extension StateBroadcast.State {
    /// Listeners are not notified if the state stays the same.
    fileprivate mutating func change(_ change: (inout PeripheralState) -> Void) {
        let old = current
        change(&current)
        guard current != old else { return }
        for listener in listeners.values { listener.yield(current) }
    }
}
