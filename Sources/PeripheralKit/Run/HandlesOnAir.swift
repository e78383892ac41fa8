internal import PeripheralCore
private import Synchronization

/// The handles of attributes on the air, as far as the backend has reported them.
final class HandlesOnAir: Sendable {
    private let handles = Mutex<[AttributeHandle: AttributeHandle]>([:])

    /// Records the handle on the air of an attribute in the table.
    func assign(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        handles.withLock { $0[handle] = onAir }
    }

    /// Forgets the handles of attributes that no longer exist.
    func remove(_ attributes: ClosedRange<AttributeHandle>) {
        handles.withLock { handles in handles = handles.filter { !attributes.contains($0.key) } }
    }

    subscript(handle: AttributeHandle) -> AttributeHandle? {
        handles.withLock { $0[handle] }
    }

    /// Returns the value of an aggregate format; `nil` while one of the handles in it is unknown.
    func value(of formats: [AttributeHandle]) -> [UInt8]? {
        let onAir = handles.withLock { handles in formats.compactMap { handles[$0] } }
        guard onAir.count == formats.count else { return nil }
        return onAir.flatMap(\.rawValue.gattBytes)
    }
}
