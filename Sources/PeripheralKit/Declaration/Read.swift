public import PeripheralCore

/// Answers a central's reads of a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .read) {
///     Read { await lamp.isOn }
/// }
/// ```
///
/// The handler runs in a separate task, concurrently with other handlers. There is one exception: if the
/// central has just written the same value without response, the handler of that write returns first.
///
/// An error that the handler throws refuses the read. An ``ATTErrorConvertible`` error is sent as its ATT
/// error, any other as `ATTError.unlikelyError`. Not every Bluetooth stack can carry every ATT error: see
/// `ATTError`. A handler that has not returned after 4 seconds is cancelled, and the read is refused with
/// `ATTError.unlikelyError`. Bluetooth stacks do not wait longer.
///
/// Await long operations, and do not block the thread. At first, a handler runs on another thread than the
/// one that serves the Bluetooth stack. Once it has proved quick, it runs on the same thread, because
/// changing threads costs more than most handlers take. If it then blocks the thread, all requests and
/// updates wait, even beyond the 4 seconds. Locks, system calls and long computations block a thread. After
/// that, the handler runs on another thread again. A handler that suspends delays no other request. Run
/// blocking work on a thread of its own.
///
/// A value that does not fit into one packet is read in parts. The handler is called for the first part. The
/// other parts come from the same value, so a central never receives a mixture of two values.
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
