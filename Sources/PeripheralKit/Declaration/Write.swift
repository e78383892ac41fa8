public import PeripheralCore

/// Handles the writes to a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
///     Write { isOn, central in try await lamp.set(isOn) }
/// }
/// ```
///
/// The bytes are decoded before the handler is called. If the bytes are not a `Value`, the write is refused
/// without a call of the handler. The error is `ATTError.invalidAttributeValueLength` or
/// `ATTError.valueNotAllowed`. The parts of a long write arrive as one value. A write at an offset other than
/// 0 is refused with `ATTError.invalidOffset`.
///
/// The handler runs in a separate task. The handler can suspend, but must not block its thread for long: see
/// ``Read``.
///
/// - Order: The writes of one central to all attributes are handled one at a time, in order. Writes of
///   different centrals are handled concurrently.
/// - Reads: If a central reads a value that it has just written without response, the read waits for the
///   handler of the write. Return as soon as the value is stored, and do longer work in another task.
/// - Limit: Up to 256 writes of a central wait. Further writes are refused with
///   `ATTError.insufficientResources`.
/// - Hanging handlers: A handler can ignore that its task is cancelled. Such a handler delays all later
///   writes of that central, which are refused after 4 seconds. The task of a write without response is not
///   cancelled.
///
/// The request succeeds when the handler returns. An error that the handler throws refuses the request, as
/// described at ``Read``. A write without response cannot be refused, and the central is not informed that it
/// failed. Not every Bluetooth stack can carry `ATTError.valueNotAllowed` and
/// `ATTError.insufficientResources`: see `ATTError`.
public struct Write<Value: GATTValue>: Sendable {
    let handler: WriteHandler

    /// Creates a write whose handler receives the value and the central that wrote it.
    public init(_ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void) {
        self.handler = { bytes, central in try await handler(Value(gattBytes: bytes), central) }
    }

    /// Creates a write whose handler receives only the value.
    public init(_ handler: @escaping @Sendable (_ value: Value) async throws -> Void) {
        self.handler = { bytes, _ in try await handler(Value(gattBytes: bytes)) }
    }
}
