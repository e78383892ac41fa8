internal import PeripheralCore

extension PeripheralSession {
    /// The state that was restored when the run began, with the present status of its subscribers.
    ///
    /// The state is `nil` when nothing was preserved, or when the peripheral has no restoration identifier.
    public var restored: RestoredState? { runtime.preservation?.restored }

    /// Saves all changes so far and waits until the store contains them.
    ///
    /// The call lasts as long as the store needs for the save. If an earlier save has just begun, the call
    /// first waits up to half a second. Without this call, changes are saved automatically a little later,
    /// several at a time. The save continues if the calling task is cancelled.
    ///
    /// - Throws: ``RestorationError`` when the state cannot be saved; ``PeripheralError`` with the code
    ///   ``PeripheralError/Code/restorationUnavailable`` when the peripheral has no restoration identifier.
    public func preserve() async throws {
        guard let preservation = runtime.preservation else { throw PeripheralError.noRestorationIdentifier }
        try await preservation.flush()
    }

    /// The number of saves in this run, and of the updates dropped from the preserved state.
    ///
    /// Each save wears out flash memory.
    public var restorationStatistics: RestorationStatistics {
        runtime.preservation?.statistics ?? RestorationStatistics()
    }

    /// Returns the value of a characteristic that is declared with ``PersistentValue``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func value<Value>(of characteristic: Characteristic<Value>) throws -> Value {
        let handle = try persistentHandle(of: characteristic)
        return try Value(gattBytes: runtime.persistentValues[handle] ?? [])
    }

    /// Changes a persistent value and sends it to all subscribers.
    ///
    /// Centrals read the new value at once. If the characteristic is declared ``WriteDurability/durable``,
    /// the call returns after the value is saved. The value is sent according to the rules of
    /// ``notify(_:_:)-(_,Value)``.
    ///
    /// With ``UpdatePolicy/durable``, the value and its update are saved together. The same save includes all
    /// earlier values of ``update(_:_:)``. While the queue of a connected subscriber is full, the call waits
    /// before it changes the value.
    ///
    /// - Throws: One of these errors:
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///     ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``.
    ///   - ``RestorationError`` when the value cannot be saved yet. The value is sent after it is saved. The
    ///     same error is thrown when there is no room for the update because earlier updates cannot be saved.
    ///     In this case, the value has not changed.
    ///   - `CancellationError`.
    public func set<Value>(_ characteristic: Characteristic<Value>, to value: Value) async throws {
        let handle = try persistentHandle(of: characteristic)
        let bytes = try characteristic.declaration.checkedForUpdate(value.gattBytes)
        let isPosted = try await runtime.persistentValues.set(bytes, of: handle)
        guard characteristic.properties.allowsSubscription, !isPosted else { return }
        try await runtime.notify(handle, bytes)
        runtime.persistentValues.resend(handle, unless: bytes)
    }

    private func persistentHandle<Value>(
        of characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> AttributeHandle {
        try runtime.checkIsRunning()
        let handle = try runtime.valueHandle(of: characteristic.declaration)
        guard characteristic.declaration.persistentValue != nil else {
            throw PeripheralError(
                code: .notDeclared,
                message: "The value of characteristic \(characteristic.uuid) is not persistent. "
                    + "Declare it with PersistentValue."
            )
        }
        return handle
    }
}

/// The number of saves of a peripheral's state, and of the updates dropped from that state.
public struct RestorationStatistics: Hashable, Sendable {
    /// How often the state was written to the store.
    public internal(set) var saves = 0

    /// How often a save failed.
    public internal(set) var failures = 0

    /// How many updates of ``UpdatePolicy/durable(beyond:)`` were dropped to preserve newer updates.
    public internal(set) var droppedUpdates = 0
}
