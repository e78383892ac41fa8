internal import PeripheralCore
private import Synchronization

/// Where the attributes stand on the air, as far as the backend has told.
final class HandlesOnAir: Sendable {
    private let handles = Mutex<[AttributeHandle: AttributeHandle]>([:])

    /// Takes note of a handle on the air, for one in the table.
    func assign(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        handles.withLock { $0[handle] = onAir }
    }

    subscript(handle: AttributeHandle) -> AttributeHandle? {
        handles.withLock { $0[handle] }
    }

    /// The value of an aggregate format; `nil` while one of the handles is unknown.
    func value(of formats: [AttributeHandle]) -> [UInt8]? {
        let onAir = handles.withLock { handles in formats.compactMap { handles[$0] } }
        guard onAir.count == formats.count else { return nil }
        return onAir.flatMap(\.rawValue.gattBytes)
    }
}
