public import PeripheralCore

/// Takes what a central writes to a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
///     Write { isOn, central in try await lamp.set(isOn) }
/// }
/// ```
///
/// The bytes are decoded first; what is no `Value` is refused without calling the handler, by
/// `ATTError.invalidAttributeValueLength` or
/// `ATTError.valueNotAllowed`. The parts of a long write arrive as one value; a write that
/// begins in the middle of the value is refused by `ATTError.invalidOffset`.
///
/// The handler runs in a task of its own; as at ``Read``, it may suspend, but not block its thread for long. The writes
/// of one central, to whichever attribute, are handled in their order and one at a time; those of several centrals
/// concurrently. A read of the value by the central that has just written it without response waits for the handler, so
/// that it should return when the value is taken, and leave to another task what takes longer. Up to 256 writes of a
/// central wait for their turn, more are refused by `ATTError.insufficientResources`. A handler that does not return, even when its task is cancelled, holds up all later
/// writes of that central, which are refused after 4 s; one that handles a write without response is not cancelled.
///
/// The central's request succeeds when the handler returns. What it throws refuses the request, as described at
/// ``Read``; a write without response cannot be refused, and a central never learns of its failure. BlueZ can carry
/// neither `ATTError.valueNotAllowed` nor `ATTError.insufficientResources`: `BlueZBackend` has a table.
public struct Write<Value: GATTValue>: Sendable {
    let handler: WriteHandler

    /// Hands the value to the handler, with the central that wrote it.
    public init(_ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void) {
        self.handler = { bytes, central in try await handler(Value(gattBytes: bytes), central) }
    }

    /// Hands the value to the handler, whoever wrote it.
    public init(_ handler: @escaping @Sendable (_ value: Value) async throws -> Void) {
        self.handler = { bytes, _ in try await handler(Value(gattBytes: bytes)) }
    }
}
