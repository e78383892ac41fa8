internal import PeripheralCore

/// A batch of updates that belong to a new value of a ``PersistentValue``.
///
/// The handler of the persistent value adds the updates to the batch.
///
/// ```swift
/// PersistentValue(initially: true, writes: .durable) { isLocked, central, _, updates in
///     try await bolt.move(toLocked: isLocked)
///     try updates.append(audit, "\(isLocked ? "locked" : "unlocked") by \(central.address)")
/// }
/// ```
///
/// The session first sends the persistent value to all subscribers. Then the session sends the updates in the
/// order in which the handler appended them. The session preserves the persistent value and all durable
/// updates in a single save. The updates of a characteristic are durable if the characteristic has the policy
/// ``UpdatePolicy/durable``. If the program is killed during a save, the preserved state either contains the
/// value and all updates, or stays unchanged. After a ``WriteDurability/durable`` write, the session first
/// completes the save, and then answers the write and sends the updates. If the handler throws an error, the
/// session sends no update.
public struct UpdateBatch: Sendable {
    private(set) var updates: [PersistentValues.Update] = []
    private let declared: CurrentDeclaration

    init(of declared: CurrentDeclaration) {
        self.declared = declared
    }

    /// Adds an update for all subscribers of a characteristic.
    ///
    /// The function follows the rules of ``PeripheralSession/update(_:_:)``, but returns no result. If the
    /// policy is ``UpdatePolicy/durable``, the session preserves the update regardless of the number of
    /// preserved updates. With any other policy, the update is dropped for all subscribers if the queue of
    /// one subscriber is full.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value, which is at most 512 bytes long when encoded.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/invalidValue``.
    public mutating func append<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value
    ) throws(PeripheralError) {
        try characteristic.declaration.checkAllowsSubscription()
        let handle = try declared.valueHandle(of: characteristic.declaration)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        updates.append(PersistentValues.Update(characteristic: handle, value: bytes))
    }
}
