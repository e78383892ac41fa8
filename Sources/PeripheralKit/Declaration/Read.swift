public import PeripheralCore

/// Answers the reads of a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .read) {
///     Read { await lamp.isOn }
/// }
/// ```
///
/// The handler runs in a separate task, concurrently with other handlers. There is one exception. If the
/// central has just written the same value without response, the read waits until the handler of that write
/// has returned.
///
/// An error that the handler throws refuses the read. If the error is an ``ATTErrorConvertible``, the central
/// receives its ``ATTErrorConvertible/attError``. For any other error, the central receives
/// `ATTError.unlikelyError`. Not every Bluetooth stack can carry every ATT error: see `ATTError`. A handler
/// that has not returned after 4 seconds is cancelled, and the read is refused with `ATTError.unlikelyError`.
/// Bluetooth stacks do not wait longer.
///
/// Await long operations, and do not block the thread. Locks, system calls and long computations block a
/// thread. Run such work on a separate thread. While a handler is suspended, other requests are served.
///
/// At first, a handler does not run on the thread that serves the Bluetooth stack. After several quick calls,
/// the handler runs on that thread, because a change of threads costs more than most handlers take. If the
/// handler then blocks the thread, all requests and updates wait, even beyond the 4 seconds. Afterwards, the
/// handler runs on another thread again.
///
/// A value that does not fit into one packet is read in parts. The handler is called for the first part. The
/// later parts are cut from the same value. Therefore, a central never receives a mixture of two values.
public struct Read<Value: GATTValue>: Sendable {
    let source: ReadSource

    /// Creates a read whose handler receives the central that reads.
    public init(_ handler: @escaping @Sendable (_ central: Central) async throws -> Value) {
        source = .handler { central in try await handler(central).gattBytes }
    }

    /// Creates a read whose handler does not receive the central.
    public init(_ handler: @escaping @Sendable () async throws -> Value) {
        source = .handler { _ in try await handler().gattBytes }
    }
}
