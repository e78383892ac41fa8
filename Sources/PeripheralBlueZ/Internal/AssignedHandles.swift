internal import PeripheralCore
internal import PeripheralKit
internal import Synchronization

/// The handles that bluetoothd has given to the database, so that it has the same when it is registered again.
///
/// A central keeps what it has found, by handle; one that it has bonded with, for good.
final class AssignedHandles: Sendable {
    private struct State {
        var handles: [AttributeHandle: AttributeHandle] = [:]
        var isPinned = false
    }

    /// The attributes that bluetoothd tells the handles of, all or none of which can be pinned.
    private let needed: Set<AttributeHandle>
    private let state = Mutex(State())

    init(for table: AttributeTable) {
        needed = Set(
            table.attributes.compactMap { attribute in
                switch attribute.kind {
                case .serviceDeclaration, .characteristicValue: attribute.handle
                default: nil
                }
            }
        )
    }

    /// Takes note of a handle on the air, for one in the table.
    func assign(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        state.withLock { $0.handles[handle] = onAir }
    }

    /// The handle on the air; `nil` when bluetoothd has not told it.
    func onAir(_ handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.handles[handle] }
    }

    /// What to demand for an attribute; `nil` leaves it to bluetoothd.
    subscript(handle: AttributeHandle) -> AttributeHandle? {
        state.withLock { $0.isPinned ? $0.handles[handle] : nil }
    }

    /// Demands what was given before, if all of it is known.
    func pin() {
        state.withLock { state in
            state.isPinned = needed.allSatisfy { state.handles[$0] != nil }
        }
    }

    /// Leaves the handles to bluetoothd, which may have given them to another program by now.
    ///
    /// - Returns: Whether they were pinned.
    func unpin() -> Bool {
        state.withLock { state in
            defer { state = State() }
            return state.isPinned
        }
    }
}
