public import PeripheralCore

/// Answers the reads of a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .read) {
///     Read { await lamp.isOn }
/// }
/// ```
///
/// The read handler runs in a separate task, concurrently with other handlers. If a central writes a value
/// without response and then reads the value, the read handler waits until the write handler has returned.
///
/// If the handler throws an error, the peripheral refuses the read. If the error conforms to
/// ``ATTErrorConvertible``, the peripheral sends the error's ``ATTErrorConvertible/attError`` to the central.
/// If the thrown error is not an ``ATTErrorConvertible``, the central receives `ATTError.unlikelyError`. Some
/// Bluetooth stacks can send only certain ATT errors: see `ATTError`. If a handler has not returned after 4
/// seconds, the peripheral cancels the handler and refuses the read with `ATTError.unlikelyError`. A
/// Bluetooth stack can refuse a read that takes 5 seconds or longer.
///
/// Await long operations in a handler, and do not block the thread of the handler. Locks, system calls and
/// long computations can block a thread. Run long computations and blocking operations on a separate thread.
/// While a handler is suspended, the peripheral serves other requests.
///
/// One thread communicates with the Bluetooth stack. The first calls to a handler run on a different thread.
/// If several calls return quickly, later calls run directly on the thread that communicates with the
/// Bluetooth stack. A direct call avoids a thread switch. Most handlers take less time than a thread switch.
/// If a handler blocks the thread that communicates with the Bluetooth stack, all requests and updates wait
/// until the thread is free. These requests and updates can wait for longer than 4 seconds. After a handler
/// has blocked the thread, the next calls to the handler run on a different thread.
///
/// If a value does not fit into one packet, the central reads the value in parts. When the central reads the
/// first part, the peripheral calls the handler and stores the returned value. When the central reads a later
/// part, the peripheral sends that part of the stored value, and does not call the handler. A central never
/// receives a mixture of two values.
public struct Read<Value: GATTValue>: Sendable {
    let source: ReadSource

    /// Creates a `Read` with a handler that receives the reading central and the session.
    ///
    /// <doc:SessionInHandlers> describes what a handler can do with the session.
    public init(
        _ handler:
            @escaping @Sendable (_ central: Central, _ session: PeripheralSession) async throws -> Value
    ) {
        source = .handler { central, session in try await handler(central, session).gattBytes }
    }

    /// Creates a `Read` with a handler that receives the reading central.
    public init(_ handler: @escaping @Sendable (_ central: Central) async throws -> Value) {
        source = .handler { central, _ in try await handler(central).gattBytes }
    }

    /// Creates a `Read` with a handler that has no parameters.
    public init(_ handler: @escaping @Sendable () async throws -> Value) {
        source = .handler { _, _ in try await handler().gattBytes }
    }
}
