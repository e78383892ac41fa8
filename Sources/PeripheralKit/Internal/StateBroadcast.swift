private import Synchronization

/// The state of a peripheral, and who is told when it changes.
final class StateBroadcast: Sendable {
    private struct State {
        var current = PeripheralState.initial
        var listeners: [UInt64: AsyncStream<PeripheralState>.Continuation] = [:]
        var nextNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    var current: PeripheralState { state.withLock { $0.current } }

    /// The state as it is now, then each other that follows.
    func listen() -> AsyncStream<PeripheralState> {
        // Who does not look misses the oldest: what counts is what is the case now.
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

    /// Takes note of a state; nobody is told of one that is the case already.
    func set(_ new: PeripheralState) {
        change { $0 = new }
    }

    /// Changes the state.
    func change(_ change: (inout PeripheralState) -> Void) {
        state.withLock { state in
            let old = state.current
            change(&state.current)
            guard state.current != old else { return }
            for listener in state.listeners.values { listener.yield(state.current) }
        }
    }
}
