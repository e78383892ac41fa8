internal import PeripheralCore

/// Updates that a handler of a ``PersistentValue`` sends together with the new value.
///
/// ```swift
/// PersistentValue(initially: true, writes: .durable) { isLocked, central, updates in
///     try await bolt.move(toLocked: isLocked)
///     try updates.append(audit, "\(isLocked ? "locked" : "unlocked") by \(central.address)")
/// }
/// ```
///
/// The updates are sent to all subscribers, in order, after the value itself. Updates of a characteristic
/// with ``UpdatePolicy/durable`` are preserved by the same save as the value. However the program ends,
/// either the value and the updates are preserved or neither. A ``WriteDurability/durable`` write is answered
/// after that save, and no update is sent before that save. If the handler throws, no update is sent.
public struct UpdateBatch: Sendable {
    private(set) var updates: [PersistentValues.Update] = []
    private let declared: DeclaredState

    init(of declared: DeclaredState) {
        self.declared = declared
    }

    /// Adds an update for all subscribers of a characteristic.
    ///
    /// The function works like ``PeripheralSession/update(_:_:)``, but never returns `false`. An update with
    /// ``UpdatePolicy/durable`` is preserved even if the maximum number of updates already waits. Any other
    /// update is dropped for all subscribers if there is no room.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with the property `.notify` or `.indicate`.
    ///   - value: The new value; at most 512 bytes when encoded.
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
