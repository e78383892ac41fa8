internal import PeripheralCore
private import Synchronization

/// The values that the framework keeps of a running peripheral.
final class PersistentValues: Sendable {
    private let values: Mutex<[AttributeHandle: [UInt8]]>
    private let preservation: Preservation?
    private let durable: Set<AttributeHandle>
    private let send: @Sendable (AttributeHandle, [UInt8]) -> Void

    /// - Parameters:
    ///   - declarations: What is declared, by value handle.
    ///   - values: What the values are at first.
    ///   - preservation: What has them survive; `nil` when nothing does.
    ///   - send: Sends what a central has written to those who have subscribed.
    init(
        _ declarations: [AttributeHandle: PersistentValueDeclaration],
        values: [AttributeHandle: [UInt8]],
        preservation: Preservation?,
        send: @escaping @Sendable (AttributeHandle, [UInt8]) -> Void
    ) {
        self.send = send
        durable = Set(declarations.filter(\.value.isDurable).keys)
        self.values = Mutex(declarations.mapValues(\.initial).merging(values) { $1 })
        self.preservation = preservation
    }

    /// The value; `nil` when it is not persistent.
    subscript(handle: AttributeHandle) -> [UInt8]? {
        values.withLock { $0[handle] }
    }

    /// Takes a value that a central has written, and returns when it is as durable as it is declared to be.
    func write(_ value: [UInt8], to handle: AttributeHandle) async throws(RestorationError) {
        try await set(value, of: handle)
        send(handle, value)
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
