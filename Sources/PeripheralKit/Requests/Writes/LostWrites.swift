internal import PeripheralCore
private import Synchronization

/// The refused writes without response that are missing in a stream.
///
/// The centrals of these writes receive no error. Therefore, the reader of the stream is informed.
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

    /// Returns whether a write was lost since the last call, and clears that record.
    func take(of characteristic: AttributeHandle, from central: Central.ID) -> Bool {
        places.withLock { $0.remove(Place(characteristic: characteristic, central: central)) != nil }
    }

    /// Clears the losses of a central that has disconnected.
    ///
    /// If the central returns, its later writes are independent of its earlier writes.
    func forget(_ central: Central.ID) {
        places.withLock { places in places = places.filter { $0.central != central } }
    }
}
