public import PeripheralCore

/// Handles the writes to a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
///     Write { isOn, central in try await lamp.set(isOn) }
/// }
/// ```
///
/// The peripheral decodes the written bytes before it calls the handler. If the written bytes are not a valid
/// `Value`, the peripheral refuses the write and does not call the handler. The ATT error for bytes that
/// cannot be decoded is `ATTError.invalidAttributeValueLength` or `ATTError.valueNotAllowed`, and the log
/// names the characteristic and the type. The handler receives all parts of a long write as one value. If a
/// write has an offset other than 0, the peripheral refuses the write with `ATTError.invalidOffset`.
///
/// The write handler runs in a separate task. The handler can suspend, but must not block its thread for
/// long: see ``Read``.
///
/// - Order: The peripheral handles all writes of one central in order, one write at a time, even if the
///   central writes to different attributes. The peripheral handles the writes of different centrals
///   concurrently.
/// - Reads: A central can write a value without response and then read the value. The read waits until the
///   write handler has returned. Return from the handler as soon as the program has stored the value. Do
///   longer work in a separate task that the handler does not await.
/// - Limit: Up to 256 writes of a central can wait for the handler. The peripheral refuses a write with
///   `ATTError.insufficientResources` while 256 earlier writes of the same central are waiting.
/// - Handlers that do not return: A handler that ignores the cancellation of its task delays all later writes
///   of the central. The peripheral refuses a delayed write after 4 seconds. The peripheral does not cancel
///   the task of a write without response.
///
/// A write request succeeds when the handler returns. If the handler throws an error, the peripheral refuses
/// the write request. For each error of a handler, the documentation of ``Read`` describes the ATT error that
/// the central receives. The peripheral cannot refuse a write without response, and cannot inform the central
/// that the write failed. Some Bluetooth stacks cannot send `ATTError.valueNotAllowed` or
/// `ATTError.insufficientResources`: see `ATTError`.
public struct Write<Value: GATTValue>: Sendable {
    let handler: WriteHandler

    /// Creates a `Write` with a handler that receives the written value, the central and the session.
    ///
    /// ```swift
    /// Write { isOn, central, session in
    ///     try await lamp.set(isOn)
    ///     try await session.notify(power, isOn)
    /// }
    /// ```
    ///
    /// <doc:SessionInHandlers> describes what a handler can do with the session.
    public init(
        _ handler:
            @escaping @Sendable (
                _ value: Value, _ central: Central, _ session: PeripheralSession
            ) async throws -> Void
    ) {
        self.handler = { bytes, central, session in
            try await handler(Value(written: bytes), central, session)
        }
    }

    /// Creates a `Write` with a handler that receives the written value and the central.
    public init(_ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void) {
        self.handler = { bytes, central, _ in try await handler(Value(written: bytes), central) }
    }

    /// Creates a `Write` with a handler that has one parameter: the written value.
    public init(_ handler: @escaping @Sendable (_ value: Value) async throws -> Void) {
        self.handler = { bytes, _, _ in try await handler(Value(written: bytes)) }
    }
}
