public import PeripheralCore

/// Stores the value of a characteristic and preserves the value after the program ends.
///
/// ```swift
/// let isLocked = Characteristic<Bool>("5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
///     PersistentValue(initially: true) { isLocked in try await bolt.move(toLocked: isLocked) }
/// }
/// ```
///
/// Declare a persistent value instead of a ``Read`` and a ``Write``. A central that reads the characteristic
/// receives the persistent value. A central that writes the characteristic changes the persistent value. The
/// program reads the value with ``PeripheralSession/value(of:)`` and changes the value with
/// ``PeripheralSession/set(_:to:)``.
///
/// If centrals can subscribe, the peripheral sends each new value to all subscribers. Both the program and a
/// central can set a new value. If a central writes a value while the send queue of any subscriber is full,
/// no subscriber receives the written value. With the update policy ``UpdatePolicy/latest``, all subscribers
/// receive the newest value.
///
/// The peripheral preserves the value under the restoration identifier of the peripheral. Without a
/// restoration identifier, the value exists only until the run of the peripheral ends. The peripheral finds a
/// preserved value by the UUIDs of the service and the characteristic, regardless of their positions in the
/// declaration.
///
/// The peripheral does not restore a preserved value if its bytes cannot be decoded, or if its length differs
/// from the declared length. If the peripheral cannot restore the preserved value, the initial value applies,
/// and ``RestoredState/problems`` reports the problem. A preserved value that is not restored stays in the
/// store until the value of the characteristic changes. While the preserved value is in the store, a later
/// run with a matching declaration can restore the value.
public struct PersistentValue<Value: GATTValue>: Sendable {
    let declaration: PersistentValueDeclaration

    /// Stores every value that a central writes.
    ///
    /// - Parameters:
    ///   - value: The initial value, which applies if no preserved value exists.
    ///   - durability: Determines when the peripheral answers a write by a central.
    public init(initially value: Value, writes durability: WriteDurability = .coalesced) {
        self.init(initially: value, writes: durability) { _, _, _, _ in }
    }

    /// Stores each written value that the handler accepts.
    ///
    /// The handler follows the same rules as the handler of a ``Write``. If the handler throws an error, the
    /// peripheral refuses the write, and the value does not change. The handler runs for only one central at
    /// a time. Writes by other centrals wait until the handler has returned.
    ///
    /// <doc:SessionInHandlers> describes what the handler can do with the session.
    ///
    /// - Parameters:
    ///   - value: The initial value, which applies if no preserved value exists.
    ///   - durability: Determines when the peripheral answers a write by a central.
    ///   - handler: Accepts the value that a central has written, or throws an error. The handler can append
    ///     updates to the batch `updates`, for example an update of a characteristic that contains a log. The
    ///     peripheral sends the appended updates after the value.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler:
            @escaping @Sendable (
                _ value: Value, _ central: Central, _ session: PeripheralSession,
                _ updates: inout UpdateBatch
            ) async throws -> Void
    ) {
        declaration = PersistentValueDeclaration(
            initial: value.gattBytes,
            isDurable: durability == .durable,
            canDecode: { bytes in (try? Value(gattBytes: bytes)) != nil },
            handler: { bytes, central, session, updates in
                try await handler(Value(written: bytes), central, session, &updates)
            }
        )
    }

    /// Stores each written value that the handler accepts.
    ///
    /// The handler receives the written value, the central and the session.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler:
            @escaping @Sendable (
                _ value: Value, _ central: Central, _ session: PeripheralSession
            ) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, central, session, _ in
            try await handler(value, central, session)
        }
    }

    /// Stores each written value that the handler accepts.
    ///
    /// The handler receives the written value and the central.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, central, _, _ in
            try await handler(value, central)
        }
    }

    /// Stores each written value that the handler accepts.
    ///
    /// The handler receives only the written value.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler: @escaping @Sendable (_ value: Value) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, _, _, _ in try await handler(value) }
    }
}

/// Determines when the peripheral answers a write to a ``PersistentValue``.
public struct WriteDurability: Hashable, Sendable {
    private enum Name {
        case coalesced, durable
    }

    private let name: Name

    /// The peripheral answers the write immediately.
    ///
    /// Soon after answering the write, the peripheral preserves the written value together with other
    /// changes.
    public static let coalesced = WriteDurability(name: .coalesced)

    /// The peripheral answers the write after the storage has saved the value.
    ///
    /// A successful write is preserved even if the power fails. A write can cause ``UpdatePolicy/durable``
    /// updates. The storage saves the written value and these updates together. Then the peripheral sends all
    /// updates that the write causes.
    ///
    /// The answer to the write waits until the storage has saved the value. By default, a save operation
    /// begins at least half a second after the beginning of the previous save operation. With the argument
    /// `savingEvery:` of the `run` method, the program can set a shorter time between two save operations.
    ///
    /// If the storage cannot save the value, the peripheral refuses the write with `ATTError.unlikelyError`.
    /// Despite the refusal, the characteristic keeps the new value. Subscribers receive the changed value
    /// after the storage has saved it. With an update policy other than ``UpdatePolicy/durable``, the
    /// peripheral holds at most 16 unsaved values. If more than 16 values must wait for the storage, the
    /// peripheral drops the oldest values. Subscribers do not receive dropped values.
    ///
    /// Without a restoration identifier, the durability `durable` has the same effect as ``coalesced``.
    public static let durable = WriteDurability(name: .durable)
}

/// A declared persistent value, without its type.
struct PersistentValueDeclaration: Sendable {
    var initial: [UInt8]
    var isDurable: Bool
    var canDecode: @Sendable ([UInt8]) -> Bool
    /// Throws to refuse the value.
    var handler:
        @Sendable (
            _ value: [UInt8], _ central: Central, _ session: PeripheralSession,
            _ updates: inout UpdateBatch
        ) async throws -> Void
}
