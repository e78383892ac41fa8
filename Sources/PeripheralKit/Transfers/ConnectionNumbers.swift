internal import PeripheralCore
private import Synchronization

/// Tells the connections of a central from each other.
final class ConnectionNumbers: Sendable {
    private struct State {
        var next: UInt64 = 0
        var current: [(central: Central.ID, number: UInt64)] = []
        var areOver = false
    }

    private let state = Mutex(State())

    /// The number of a connection, from the first request on that comes by it.
    func number(of central: Central.ID) -> UInt64 {
        state.withLock { state in
            if let known = state.current.first(where: { $0.central == central }) { return known.number }
            defer { state.next += 1 }
            state.current.append((central, state.next))
            return state.next
        }
    }

    /// Whether a connection lasts.
    func isCurrent(_ number: UInt64, of central: Central.ID) -> Bool {
        state.withLock { $0.current.contains { $0.central == central && $0.number == number } }
    }

    /// Whether the run has ended, which tells no more of connections.
    var areOver: Bool { state.withLock(\.areOver) }

    /// Takes note that the run has ended.
    func endAll() {
        state.withLock { $0.areOver = true }
    }

    /// Takes note that a connection is over.
    func end(_ central: Central.ID) {
        state.withLock { $0.current.removeAll { $0.central == central } }
    }
}
