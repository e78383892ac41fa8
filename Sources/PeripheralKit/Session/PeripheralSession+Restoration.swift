internal import PeripheralCore

extension PeripheralSession {
    /// What was restored when the peripheral began to run, with what has become of its subscribers since.
    ///
    /// `nil` when nothing was preserved, or the peripheral has no restoration identifier.
    public var restored: RestoredState? { runtime.preservation?.restored }

    /// Returns when all that has changed so far is preserved, so that it survives whatever happens.
    ///
    /// It takes as long as the store does, and up to half a second since the save before. What changes without it is preserved soon,
    /// together with what else does. A call whose task is cancelled goes on.
    ///
    /// - Throws: ``RestorationError`` when it cannot be preserved; ``PeripheralError`` with the code
    ///   ``PeripheralError/Code/restorationUnavailable`` when the peripheral has no restoration identifier.
    public func preserve() async throws {
        guard let preservation = runtime.preservation else { throw PeripheralError.noRestorationIdentifier }
        try await preservation.flush()
    }

    /// How often the peripheral's state has been saved in this run, by which flash memory wears out, and what of it was dropped.
    public var restorationStatistics: RestorationStatistics {
        runtime.preservation?.statistics ?? RestorationStatistics()
    }

    /// The value of a characteristic that is declared with ``PersistentValue``.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func value<Value>(of characteristic: Characteristic<Value>) throws -> Value {
        let handle = try persistentHandle(of: characteristic)
        return try Value(gattBytes: runtime.persistentValues[handle] ?? [])
    }

    /// Changes the value of a characteristic that is declared with ``PersistentValue``, and sends it to all who have
    /// subscribed.
    ///
    /// What centrals read is the new value at once. The call returns when it is preserved, if it is declared
    /// ``WriteDurability/durable``, and sent as by ``notify(_:_:)-(_,Value)``.
    ///
    /// With ``UpdatePolicy/durable``, the value and its update are preserved together, as is what was sent by
    /// ``update(_:_:)`` before; while as many updates wait for a subscriber who is there as may, the call waits before it
    /// changes anything.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` or ``PeripheralError/Code/stopped``; ``RestorationError`` when it cannot be
    ///   preserved yet, in which case it is sent once it is, or when its update finds no room while those before it could not
    ///   be preserved, in which case nothing has changed; `CancellationError`.
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
                message: "The value of characteristic \(characteristic.uuid) is not kept; "
                    + "declare it with PersistentValue."
            )
        }
        return handle
    }
}

/// How often the state of a peripheral has been saved, and what of it was dropped.
public struct RestorationStatistics: Hashable, Sendable {
    /// How often it has been written to the store.
    public internal(set) var saves = 0

    /// How often that has failed.
    public internal(set) var failures = 0

    /// How many values were dropped that were kept for a subscriber (``UpdatePolicy/durable(beyond:)``), for newer ones.
    public internal(set) var droppedUpdates = 0
}
