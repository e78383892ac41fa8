internal import PeripheralCore
private import Synchronization

/// Distinguishes the connections of a central.
final class ConnectionNumbers: Sendable {
    private struct State {
        var next: UInt64 = 0
        var current: [(central: Central.ID, number: UInt64)] = []
        var areOver = false
    }

    private let state = Mutex(State())

    /// Returns the number of a connection, assigned with its first request.
    func number(of central: Central.ID) -> UInt64 {
        state.withLock { state in
            if let known = state.current.first(where: { $0.central == central }) { return known.number }
            defer { state.next += 1 }
            state.current.append((central, state.next))
            return state.next
        }
    }

    /// Whether a connection is open.
    func isCurrent(_ number: UInt64, of central: Central.ID) -> Bool {
        state.withLock { $0.current.contains { $0.central == central && $0.number == number } }
    }

    /// Whether the run has ended.
    ///
    /// Connections are not tracked afterwards.
    var areOver: Bool { state.withLock(\.areOver) }

    /// Ends the tracking of all connections with the run.
    func endAll() {
        state.withLock { $0.areOver = true }
    }

    /// Records that a connection has ended.
    func end(_ central: Central.ID) {
        state.withLock { $0.current.removeAll { $0.central == central } }
    }
}
