private import Synchronization

/// The state of a peripheral, with the listeners to its changes.
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

    /// Returns the present state, followed by each later state.
    func listen() -> AsyncStream<PeripheralState> {
        // A slow listener misses the oldest states, because only the present state counts.
        let (states, listener) = AsyncStream.makeStream(
            of: PeripheralState.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        let number = state.withLock { state -> UInt64 in
            defer { state.nextNumber += 1 }
            state.listeners[state.nextNumber] = listener
            // Inside the lock, so that no newer state comes before it.
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
    /// A backend that reports states may have reported a loss already while it still delivers an earlier
    /// event.
    func assume(_ new: PeripheralState) {
        state.withLock { state in
            if !state.isReported { state.change { $0 = new } }
        }
    }

    /// Resets the state to that of a new run.
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
    /// Listeners are not notified when the state stays the same.
    fileprivate mutating func change(_ change: (inout PeripheralState) -> Void) {
        let old = current
        change(&current)
        guard current != old else { return }
        for listener in listeners.values { listener.yield(current) }
    }
}
