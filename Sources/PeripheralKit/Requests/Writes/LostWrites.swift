internal import PeripheralCore
private import Synchronization

/// The writes without response that were refused: their central is not told, but who reads the stream that they lack in.
final class LostWrites: Sendable {
    private struct Place: Hashable {
        var characteristic: AttributeHandle
        var central: Central.ID
    }

    private let places = Mutex<Set<Place>>([])

    /// Takes note that a write is lost.
    func note(of characteristic: AttributeHandle, from central: Central.ID) {
        places.withLock { _ = $0.insert(Place(characteristic: characteristic, central: central)) }
    }

    /// Whether one was lost since the one before, which is told once.
    func take(of characteristic: AttributeHandle, from central: Central.ID) -> Bool {
        places.withLock { $0.remove(Place(characteristic: characteristic, central: central)) != nil }
    }

    /// Takes note that a central is gone: what it writes when it is back belongs to nothing of before.
    func forget(_ central: Central.ID) {
        places.withLock { places in places = places.filter { $0.central != central } }
    }
}
