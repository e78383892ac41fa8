internal import PeripheralCore
private import Synchronization

/// Tells the connections of a central from each other.
final class ConnectionNumbers: Sendable {
    private let state = Mutex<(next: UInt64, current: [Central.ID: UInt64])>((0, [:]))

    /// The number of a connection, from the first request on that comes by it.
    func number(of central: Central.ID) -> UInt64 {
        state.withLock { state in
            if let number = state.current[central] { return number }
            defer { state.next += 1 }
            state.current[central] = state.next
            return state.next
        }
    }

    /// Whether a connection lasts.
    func isCurrent(_ number: UInt64, of central: Central.ID) -> Bool {
        state.withLock { $0.current[central] == number }
    }

    /// Takes note that a connection is over.
    func end(_ central: Central.ID) {
        state.withLock { _ = $0.current.removeValue(forKey: central) }
    }
}
