private import Synchronization

/// The state of a peripheral, and who is told when it changes.
final class StateBroadcast: Sendable {
    fileprivate struct State {
        var current = PeripheralState.initial
        /// Whether the backend of this run tells the state itself.
        var isReported = false
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

    /// Takes note of the state that a backend reports.
    func report(_ new: PeripheralState) {
        state.withLock { state in
            state.isReported = true
            state.change { $0 = new }
        }
    }

    /// Takes note of what must be the case with a backend that reports no states.
    ///
    /// One that does may have reported a loss already when it still tells what was before.
    func assume(_ new: PeripheralState) {
        state.withLock { state in
            if !state.isReported { state.change { $0 = new } }
        }
    }

    /// Goes back to where each run begins.
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
    /// Nobody is told of a state that is the case already.
    fileprivate mutating func change(_ change: (inout PeripheralState) -> Void) {
        let old = current
        change(&current)
        guard current != old else { return }
        for listener in listeners.values { listener.yield(current) }
    }
}
