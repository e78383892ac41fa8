public import PeripheralCore

/// Answers the reads of a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .read) {
///     Read { await lamp.isOn }
/// }
/// ```
///
/// The read handler runs in a separate task, concurrently with other handlers. If the same central has just
/// written the value without response, the read handler begins after the write handler has returned.
///
/// If the handler throws an error, the peripheral refuses the read. If the thrown error is an
/// ``ATTErrorConvertible``, the central receives the ``ATTErrorConvertible/attError`` of that error. If the
/// thrown error is not an ``ATTErrorConvertible``, the central receives `ATTError.unlikelyError`. Some
/// Bluetooth stacks can send only certain ATT errors: see `ATTError`. If a handler has not returned after 4
/// seconds, the peripheral cancels the handler and refuses the read with `ATTError.unlikelyError`. A
/// Bluetooth stack can refuse a read that takes 5 seconds or longer.
///
/// Await long operations in a handler, and do not block the thread of the handler. Locks, system calls and
/// long computations block a thread. Run long computations and blocking operations on a separate thread.
/// While a handler is suspended, the peripheral serves other requests.
///
/// The first calls to a handler do not run on the thread that serves the Bluetooth stack. After several calls
/// have returned quickly, the handler runs on the thread that serves the Bluetooth stack, because a thread
/// switch takes longer than most handlers. If a handler blocks the thread that serves the Bluetooth stack,
/// all requests and updates wait until the thread is free, even if this takes longer than 4 seconds. After a
/// handler has blocked that thread, the next calls to the handler run on another thread.
///
/// If a value does not fit into one packet, the central reads the value in parts. The peripheral calls the
/// handler only for the first part of the value. The peripheral takes the later parts from the value that the
/// handler returned for the first part. A central never receives a mixture of two values.
public struct Read<Value: GATTValue>: Sendable {
    let source: ReadSource

    /// Creates a read whose handler receives the central that reads the value.
    public init(_ handler: @escaping @Sendable (_ central: Central) async throws -> Value) {
        source = .handler { central in try await handler(central).gattBytes }
    }

    /// Creates a read whose handler does not receive the central.
    public init(_ handler: @escaping @Sendable () async throws -> Value) {
        source = .handler { _ in try await handler().gattBytes }
    }
}
