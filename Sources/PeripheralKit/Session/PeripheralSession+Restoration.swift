internal import PeripheralCore

extension PeripheralSession {
    /// The state that the session restored when the run began.
    ///
    /// The state contains the current status of each restored subscriber.
    ///
    /// The state is `nil` if no state was preserved, or if the peripheral has no restoration identifier.
    public var restored: RestoredState? { runtime.preservation?.restored }

    /// Saves all changes and waits until they are in the store.
    ///
    /// How long a save takes depends on the store. If an earlier save has just begun, the function first
    /// waits for up to half a second. If the program does not call `preserve()`, the session saves changes
    /// automatically after a short delay, several changes at a time. Cancellation of the calling task does
    /// not stop the save.
    ///
    /// - Throws: ``RestorationError`` when the session cannot save the state. ``PeripheralError`` with the
    ///   code ``PeripheralError/Code/restorationUnavailable`` when the peripheral has no restoration
    ///   identifier.
    public func preserve() async throws {
        guard let preservation = runtime.preservation else { throw PeripheralError.noRestorationIdentifier }
        try await preservation.flush()
    }

    /// The number of saves in this run, and the number of updates dropped from the preserved state.
    ///
    /// Each save adds wear to flash memory.
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

    /// Changes a persistent value and sends the new value to all subscribers.
    ///
    /// The change takes effect immediately for centrals that read the characteristic. If the characteristic
    /// is declared with ``WriteDurability/durable``, the function returns after the value is saved. The
    /// session sends the value according to the rules of ``notify(_:_:)-(_,Value)``.
    ///
    /// With ``UpdatePolicy/durable``, one save contains both the value and its update. The save also contains
    /// the values of all earlier calls of ``update(_:_:)``. With ``UpdatePolicy/durable``, the function does
    /// not change the value while the queue of a connected subscriber is full.
    ///
    /// - Throws: The function throws one of these errors:
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///     ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``.
    ///   - ``RestorationError`` when the session cannot save the value yet. The session sends the value after
    ///     a later save. ``RestorationError`` also occurs when the update queue has no room because the
    ///     session cannot save earlier updates. If the update queue has no room, the value does not change.
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

/// The number of saves of a peripheral's state, and the number of dropped updates.
public struct RestorationStatistics: Hashable, Sendable {
    /// The number of times that the session wrote the state to the store.
    public internal(set) var saves = 0

    /// The number of failed saves.
    public internal(set) var failures = 0

    /// The number of updates that the session dropped to make room for newer updates with
    /// ``UpdatePolicy/durable(beyond:)``.
    public internal(set) var droppedUpdates = 0
}
