public import PeripheralCore

/// Serves a central's reads of a characteristic or descriptor.
///
/// ```swift
/// Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .read) {
///     Read { await lamp.isOn }
/// }
/// ```
///
/// The handler runs in a task of its own, concurrently with other handlers; but when the central has just written the same
/// value without response, the handler of that write returns first. What it throws refuses the read: an
/// ``ATTErrorConvertible`` error by its ATT error, any other by `ATTError.unlikelyError`. Not every Bluetooth stack can
/// carry every ATT error: `BlueZBackend` has a table. A handler that has not answered after 4 seconds is cancelled, and
/// the central told `ATTError.unlikelyError`: Bluetooth stacks wait no longer.
///
/// Await what takes time, and do not block the thread for long. A handler begins away from the thread that talks to the
/// Bluetooth stack, and on it once it has proven quick, since to change threads costs more than most handlers take. One
/// that has been quick and then blocks its thread, by a lock, a system call or a long computation, holds up all requests
/// and updates meanwhile, beyond the 4 seconds if it lasts so long; then it is sent away again. One that suspends holds
/// up nobody. Work that blocks belongs on a thread of its own.
///
/// A value that does not fit into one packet is read in parts. The handler is asked for the first; the further
/// ones come from the same value, so that a central never sees a mixture.
public struct Read<Value: GATTValue>: Sendable {
    let source: ReadSource

    /// Asks the handler for the value, with the central that reads it.
    public init(_ handler: @escaping @Sendable (_ central: Central) async throws -> Value) {
        source = .handler { central in try await handler(central).gattBytes }
    }

    /// Asks the handler for the value, whoever reads it.
    public init(_ handler: @escaping @Sendable () async throws -> Value) {
        source = .handler { _ in try await handler().gattBytes }
    }
}
