internal import PeripheralCore

/// Updates that a handler of a ``PersistentValue`` sends together with the value that it takes.
///
/// ```swift
/// PersistentValue(initially: true, writes: .durable) { isLocked, central, updates in
///     try await bolt.move(toLocked: isLocked)
///     try updates.append(audit, "\(isLocked ? "locked" : "unlocked") by \(central.address)")
/// }
/// ```
///
/// They are sent to all who have subscribed, behind the value itself, in their order. Those of a characteristic with
/// ``UpdatePolicy/durable`` are preserved by the same save as the value: whatever ends the program, both are there afterwards, or
/// neither is. When the write is ``WriteDurability/durable``, the central is answered after that save, and nothing is sent before it.
/// Nothing is sent either when the handler throws.
public struct UpdateBatch: Sendable {
    private(set) var updates: [PersistentValues.Update] = []
    private let declared: DeclaredState

    init(of declared: DeclaredState) {
        self.declared = declared
    }

    /// Adds an update for all who have subscribed to a characteristic.
    ///
    /// It is as what is sent by ``PeripheralSession/update(_:_:)``, but is never refused. An update with
    /// ``UpdatePolicy/durable`` is kept also where as many wait as may; another that finds no room is sent to nobody.
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
