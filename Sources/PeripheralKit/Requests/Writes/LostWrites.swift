internal import PeripheralCore
private import Synchronization

/// The refused writes without response, which are missing in a stream.
///
/// Their centrals get no error, so the reader of the stream is informed.
final class LostWrites: Sendable {
    private struct Place: Hashable {
        var characteristic: AttributeHandle
        var central: Central.ID
    }

    private let places = Mutex<Set<Place>>([])

    /// Records a lost write.
    func note(of characteristic: AttributeHandle, from central: Central.ID) {
        places.withLock { _ = $0.insert(Place(characteristic: characteristic, central: central)) }
    }

    /// Returns whether a write was lost since the last call, and forgets it.
    func take(of characteristic: AttributeHandle, from central: Central.ID) -> Bool {
        places.withLock { $0.remove(Place(characteristic: characteristic, central: central)) != nil }
    }

    /// Forgets the losses of a central that has disconnected.
    ///
    /// Its writes after it returns are independent of the earlier ones.
    func forget(_ central: Central.ID) {
        places.withLock { places in places = places.filter { $0.central != central } }
    }
}
