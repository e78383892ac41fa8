internal import PeripheralCore
private import Synchronization

/// The values that the framework keeps of a running peripheral.
final class PersistentValues: Sendable {
    private let values: Mutex<[AttributeHandle: [UInt8]]>
    private let preservation: Preservation?
    private let durable: Set<AttributeHandle>

    /// - Parameters:
    ///   - declarations: What is declared, by value handle.
    ///   - values: What the values are at first.
    ///   - preservation: What has them survive; `nil` when nothing does.
    init(
        _ declarations: [AttributeHandle: PersistentValueDeclaration],
        values: [AttributeHandle: [UInt8]],
        preservation: Preservation?
    ) {
        durable = Set(declarations.filter(\.value.isDurable).keys)
        self.values = Mutex(declarations.mapValues(\.initial).merging(values) { $1 })
        self.preservation = preservation
    }

    /// The value; `nil` when it is not persistent.
    subscript(handle: AttributeHandle) -> [UInt8]? {
        values.withLock { $0[handle] }
    }

    /// Sets a value, and returns when it is as durable as it is declared to be.
    func set(_ value: [UInt8], of handle: AttributeHandle) async throws(RestorationError) {
        values.withLock { values in
            values[handle] = value
            // Inside the lock, so that what is preserved last is what was set last.
            preservation?.set(value, of: handle)
        }
        if durable.contains(handle) { try await preservation?.flush() }
    }
}
