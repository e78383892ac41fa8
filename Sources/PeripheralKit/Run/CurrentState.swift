private import Synchronization

/// The current state of a peripheral, and the listeners to its changes.
final class CurrentState: Sendable {
    private struct State {
        var current = PeripheralState.initial
        /// Whether the backend of this run reports the state itself.
        var isReported = false
    }

    private let state = Mutex(State())
    /// A slow listener misses the oldest states, because only the current state matters.
    private let changes = Broadcast<PeripheralState>(capacity: 64)

    var current: PeripheralState { state.withLock { $0.current } }

    /// Returns the current state, followed by each later state.
    func listen() -> AsyncStream<PeripheralState> {
        // Inside the lock, so that no newer state precedes this state.
        state.withLock { changes.listen(startingWith: $0.current) }
    }

    /// Sets the state that a backend reports.
    func report(_ new: PeripheralState) {
        change(isReported: true) { $0 = new }
    }

    /// Sets the state that follows from an event, for a backend that reports no states.
    ///
    /// A backend that reports states may have reported a loss of the stack before it delivers an earlier
    /// event.
    func assume(_ new: PeripheralState) {
        state.withLock { state in
            if !state.isReported { set(new, &state) }
        }
    }

    /// Resets the state to the initial state of a run.
    func reset() {
        change(isReported: false) { $0 = .initial }
    }

    /// Changes the state.
    ///
    /// - Parameters:
    ///   - isReported: Whether the backend reports the state itself; `nil` if this does not change.
    ///   - change: Changes the state.
    func change(isReported: Bool? = nil, _ change: (inout PeripheralState) -> Void) {
        state.withLock { state in
            if let isReported { state.isReported = isReported }
            var new = state.current
            change(&new)
            set(new, &state)
        }
    }

    /// Listeners are not notified if the state stays the same.
    private func set(_ new: PeripheralState, _ state: inout State) {
        guard new != state.current else { return }
        state.current = new
        changes.send(new)
    }
}
