public import PeripheralCore

/// Stores the value of a characteristic and preserves it when the program ends.
///
/// ```swift
/// let isLocked = Characteristic<Bool>("5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
///     PersistentValue(initially: true) { isLocked in try await bolt.move(toLocked: isLocked) }
/// }
/// ```
///
/// Use it in place of ``Read`` and ``Write``. A central's read returns the value, and its write changes the
/// value. The program reads the value with ``PeripheralSession/value(of:)`` and changes it with
/// ``PeripheralSession/set(_:to:)``.
///
/// If centrals can subscribe, each value that is written or set is sent to all subscribers. A value that is
/// written while the queue of one subscriber is full is sent to none of them. With ``UpdatePolicy/latest``,
/// the newest value reaches all of them.
///
/// The value is preserved under the peripheral's restoration identifier. Without an identifier, it lasts as
/// long as the run. A preserved value is found by the types of its service and characteristic, wherever the
/// declaration contains them. If it cannot be decoded or has another length than declared, it is not
/// restored: the value is the initial one, and ``RestoredState/problems`` reports it. It stays preserved
/// until the value changes. A later declaration that matches it can still restore it.
public struct PersistentValue<Value: GATTValue>: Sendable {
    let declaration: PersistentValueDeclaration

    /// Stores what centrals write.
    ///
    /// - Parameters:
    ///   - value: The initial value, used if no value is preserved.
    ///   - durability: When a central's write is answered.
    public init(initially value: Value, writes durability: WriteDurability = .coalesced) {
        self.init(initially: value, writes: durability) { _, _, _ in }
    }

    /// Stores what centrals write after the handler has accepted it.
    ///
    /// The handler works like that of ``Write``. An error that it throws refuses the write, and the value
    /// stays the same. The handler runs for one central at a time: the write of another central waits until
    /// it returns.
    ///
    /// - Parameters:
    ///   - value: The initial value, used if no value is preserved.
    ///   - durability: When a central's write is answered.
    ///   - handler: Applies the value that the central has written. It can add updates to send with the
    ///     value, such as a log entry.
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

    /// Stores what centrals write after the handler has accepted it.
    ///
    /// The handler adds no updates.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, central, _ in
            try await handler(value, central)
        }
    }

    /// Stores what centrals write after the handler has accepted it.
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

/// When a central's write of a ``PersistentValue`` is answered.
public struct WriteDurability: Hashable, Sendable {
    private enum Name {
        case coalesced, durable
    }

    private let name: Name

    /// The write is answered at once.
    ///
    /// The value is preserved soon after, together with other changes.
    public static let coalesced = WriteDurability(name: .coalesced)

    /// The write is answered after the value has been preserved.
    ///
    /// A write that has succeeded is not lost, even if the power fails. The ``UpdatePolicy/durable`` updates
    /// that the write causes are preserved by the same save. All updates are sent after it. The answer takes
    /// as long as the storage needs. The save can also be delayed until half a second after the previous one,
    /// or by the time between two saves if that is shorter.
    ///
    /// If the value cannot be preserved, the write is refused with `ATTError.unlikelyError`, although the
    /// value has changed. Subscribers receive the value once it is preserved. For a characteristic that is
    /// not ``UpdatePolicy/durable``, they receive the last 16 such values.
    ///
    /// Without a restoration identifier, this is the same as ``coalesced``.
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
