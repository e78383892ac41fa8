public import PeripheralCore

/// Keeps the value of a characteristic, in place of ``Read`` and ``Write``: also when the program ends.
///
/// ```swift
/// let isLocked = Characteristic<Bool>("5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
///     PersistentValue(initially: true) { isLocked in try await bolt.move(toLocked: isLocked) }
/// }
/// ```
///
/// Reads of centrals are answered with the value, and writes change it. The program reads it by
/// ``PeripheralSession/value(of:)``, and changes it by ``PeripheralSession/set(_:to:)``. Where centrals can subscribe, each
/// value that is written or set is sent to all who have; what is written while the queue of one of them is full, to nobody.
/// With ``UpdatePolicy/latest``, the newest value reaches all of them.
///
/// The value is preserved under the peripheral's restoration identifier; without one, it lasts as long as the run.
/// It is found again by the types of its service and characteristic, wherever they stand in the declaration. What is
/// preserved but cannot be decoded, or has another length than declared, is not taken: the value is the initial one then, and
/// ``RestoredState/problems`` tell. It stays preserved until the value is changed, and is taken by a declaration that it suits.
public struct PersistentValue<Value: GATTValue>: Sendable {
    let declaration: PersistentValueDeclaration

    /// Keeps what centrals write.
    ///
    /// - Parameters:
    ///   - value: The value that it has at first, and when none is preserved.
    ///   - durability: When a central's write is answered.
    public init(initially value: Value, writes durability: WriteDurability = .coalesced) {
        self.init(initially: value, writes: durability) { _, _, _ in }
    }

    /// Keeps what centrals write once the handler has taken it.
    ///
    /// The handler is as that of ``Write``; what it throws refuses the write, and the value stays as it is. It runs for one central
    /// at a time: the write of another waits for its end.
    ///
    /// - Parameters:
    ///   - value: The value that it has at first, and when none is preserved.
    ///   - durability: When a central's write is answered.
    ///   - handler: Does what the value stands for, with the central that wrote it, and adds what is to be sent with it,
    ///     such as an entry of a log.
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

    /// Keeps what centrals write once the handler has taken it, which sends nothing beside it.
    public init(
        initially value: Value,
        writes durability: WriteDurability = .coalesced,
        _ handler: @escaping @Sendable (_ value: Value, _ central: Central) async throws -> Void
    ) {
        self.init(initially: value, writes: durability) { value, central, _ in
            try await handler(value, central)
        }
    }

    /// Keeps what centrals write once the handler has taken it, whoever wrote it.
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

    /// At once: the value is preserved soon, together with what else changes meanwhile.
    public static let coalesced = WriteDurability(name: .coalesced)

    /// When the value is preserved: what a central has been told is written is not lost, also when the power fails.
    ///
    /// The updates that the write brings about are preserved by the same save, as far as they are ``UpdatePolicy/durable``;
    /// all are sent after it. That takes as long as the storage does, and up to half a second since the save before, or the time
    /// between two saves if that is shorter. When it cannot be preserved, the write is refused by `ATTError.unlikelyError`,
    /// although the value has been taken; those who have subscribed get it once it is preserved, the last 16 such values of a
    /// characteristic that is not ``UpdatePolicy/durable``. Without a restoration identifier, it is the same as ``coalesced``.
    public static let durable = WriteDurability(name: .durable)
}

/// A declared persistent value without its type.
struct PersistentValueDeclaration: Sendable {
    var initial: [UInt8]
    var isDurable: Bool
    var canDecode: @Sendable ([UInt8]) -> Bool
    /// Throws where the value is not to be.
    var handler:
        @Sendable (_ value: [UInt8], _ central: Central, _ updates: inout UpdateBatch) async throws -> Void
}
