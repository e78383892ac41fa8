public import PeripheralCore

/// Stores the value of a characteristic and preserves it when the program ends.
///
/// ```swift
/// let isLocked = Characteristic<Bool>("5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
///     PersistentValue(initially: true) { isLocked in try await bolt.move(toLocked: isLocked) }
/// }
/// ```
///
/// Use a persistent value instead of a ``Read`` and a ``Write``. A read by a central returns the value. A
/// write by a central changes the value. The program reads the value with ``PeripheralSession/value(of:)``
/// and changes it with ``PeripheralSession/set(_:to:)``.
///
/// If centrals can subscribe, each value that a central writes or the program sets is sent to all
/// subscribers. If a central writes a value while the queue of one subscriber is full, no subscriber receives
/// that value. With ``UpdatePolicy/latest``, the newest value reaches all subscribers.
///
/// The value is preserved under the peripheral's restoration identifier. Without an identifier, the value
/// lasts until the run ends. A preserved value is found by the types of its service and characteristic, at
/// any position in the declaration.
///
/// A preserved value is not restored if it cannot be decoded, or if its length is not the declared length. In
/// this case, the value is the initial value, and ``RestoredState/problems`` reports the problem. The
/// preserved value stays in the store until the value changes. Until then, a run with a matching declaration
/// can still restore the preserved value.
public struct PersistentValue<Value: GATTValue>: Sendable {
    let declaration: PersistentValueDeclaration

    /// Stores every value that centrals write.
    ///
    /// - Parameters:
    ///   - value: The initial value; it is used if no value is preserved.
    ///   - durability: The time at which a central's write is answered.
    public init(initially value: Value, writes durability: WriteDurability = .coalesced) {
        self.init(initially: value, writes: durability) { _, _, _ in }
    }

    /// Stores the values that centrals write, if the handler accepts them.
    ///
    /// The handler works like the handler of a ``Write``. An error that the handler throws refuses the write,
    /// and the value stays the same. The handler runs for one central at a time. The write of another central
    /// waits until the handler has returned.
    ///
    /// - Parameters:
    ///   - value: The initial value; it is used if no value is preserved.
    ///   - durability: The time at which a central's write is answered.
    ///   - handler: Applies the value that the central has written. The handler can add updates to send with
    ///     the value, such as a log entry.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler:
            @escaping @Sendable (
                _ value: Value, _ central: Central, _ updates: inout UpdateBatch
            ) async throws -> Void
    ) {
        declaration = PersistentValueDeclaration(
            initial: value.gattBytes,
            isDurable: durability == .durable,
            canDecode: { bytes in (try? Value(gattBytes: bytes)) != nil },
            handler: { bytes, central, updates in
                try await handler(Value(gattBytes: bytes), central, &updates)
            }
        )
    }

    /// Stores the values that centrals write, if the handler accepts them.
    ///
    /// The handler cannot add updates.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, central, _ in
            try await handler(value, central)
        }
    }

    /// Stores the values that centrals write, if the handler accepts them.
    ///
    /// The handler receives only the value.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler: @escaping @Sendable (_ value: Value) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, _, _ in try await handler(value) }
    }
}

/// The time at which a central's write of a ``PersistentValue`` is answered.
public struct WriteDurability: Hashable, Sendable {
    private enum Name {
        case coalesced, durable
    }

    private let name: Name

    /// The write is answered at once.
    ///
    /// The value is preserved soon after the answer, together with other changes.
    public static let coalesced = WriteDurability(name: .coalesced)

    /// The write is answered after the value has been preserved.
    ///
    /// A write that has succeeded is not lost, even if the power fails. The same save preserves the
    /// ``UpdatePolicy/durable`` updates that the write causes. All updates are sent after the save.
    ///
    /// The answer takes as long as the storage needs. The save can also be delayed until half a second after
    /// the previous save. If the time between two saves is shorter, the maximum delay is that time.
    ///
    /// If the value cannot be preserved, the write is refused with `ATTError.unlikelyError`, although the
    /// value has changed. Subscribers receive the value as soon as the value is preserved. If the
    /// characteristic is not ``UpdatePolicy/durable``, subscribers receive only the last 16 of these values.
    ///
    /// Without a restoration identifier, this durability is the same as ``coalesced``.
    public static let durable = WriteDurability(name: .durable)
}

/// A declared persistent value, without its type.
struct PersistentValueDeclaration: Sendable {
    var initial: [UInt8]
    var isDurable: Bool
    var canDecode: @Sendable ([UInt8]) -> Bool
    /// Throws to refuse the value.
    var handler:
        @Sendable (_ value: [UInt8], _ central: Central, _ updates: inout UpdateBatch) async throws -> Void
}
