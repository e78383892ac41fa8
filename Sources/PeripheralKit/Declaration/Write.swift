public import PeripheralCore

/// Handles a central's writes to a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
///     Write { isOn, central in try await lamp.set(isOn) }
/// }
/// ```
///
/// The bytes are decoded first. Bytes that are not a `Value` are refused without calling the handler, with
/// `ATTError.invalidAttributeValueLength` or `ATTError.valueNotAllowed`. The parts of a long write arrive as
/// one value. A write that begins in the middle of the value is refused with `ATTError.invalidOffset`.
///
/// The handler runs in a separate task. It can suspend, but must not block its thread for long: see ``Read``.
///
/// - Order: The writes of one central to all attributes are handled one at a time, in order. Writes of
///   different centrals are handled concurrently.
/// - Reads: If a central reads the value that it has just written without response, the read waits for the
///   handler. Return once the value is taken, and leave longer work to another task.
/// - Limit: Up to 256 writes of a central wait. Further writes are refused with
///   `ATTError.insufficientResources`.
/// - Hanging handlers: A handler that does not return, even after its task is cancelled, delays all later
///   writes of that central. They are refused after 4 seconds. A handler of a write without response is not
///   cancelled.
///
/// The request succeeds when the handler returns. An error that the handler throws refuses it, as described
/// at ``Read``. A write without response cannot be refused, and the central does not learn of its failure.
/// Not every Bluetooth stack can carry `ATTError.valueNotAllowed` and `ATTError.insufficientResources`: see
/// `ATTError`.
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
