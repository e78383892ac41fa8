// MARK: - Services

extension PeripheralSession {
    /// The present services, in the order in which they were declared and added.
    public var services: [GATTService] { runtime.declaration.declared.peripheral.services }

    /// Adds services to the peripheral.
    ///
    /// ```swift
    /// try await session.add {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
    /// }
    /// ```
    ///
    /// An added service behaves like a declared service. Its ``GATTServiceDeclaration/run(in:)`` begins, and
    /// an advertisement that is derived from the services names it if there is room. A service can include
    /// only services that are added in the same call. A removed service can be added again.
    ///
    /// Connected centrals learn of the new services through Service Changed. A bonded central that is not
    /// connected learns of them when it reconnects (Core Specification, Vol 3, Part G, 7.1). On BlueZ, a
    /// connected central receives exactly one indication for each added service if the services use handles
    /// that are reserved with ``Peripheral/reservedHandles``. Otherwise it receives additional indications,
    /// and the log says so once.
    ///
    /// A service that was removed in this run, or an equal service, returns to its earlier attribute handles.
    /// Other services use the lowest handles from 0x0100 to 0x03FF that no service has used. If no such
    /// handles are left, they use the handles of the service that was removed first.
    ///
    /// With a restoration identifier, the services that were present at the end of a run are preserved. If a
    /// later run adds an equal service, the service returns to its handles, and each ``PersistentValue``
    /// continues with its last value. Services are equal if they have the same attributes and the same
    /// constant values. Therefore give each of several services of one type a different constant, such as a
    /// ``UserDescription``. Equal services return in the order in which they were added. Centrals have to
    /// subscribe again, and durable updates for subscribers of these services do not outlast the run. Both
    /// are restored if the next run uses ``PreservedPeripheral``.
    ///
    /// The function returns when centrals can discover the services. While the peripheral is not published,
    /// it returns immediately, and the services follow with the next publication. If several tasks change
    /// the services, the session makes one change after the other. If the calling task is cancelled during a
    /// change, the change continues.
    ///
    /// When the peripheral is published again after a loss, the Bluetooth stack may refuse added services,
    /// for example because another program has taken their pinned handles. The other services then serve on,
    /// and the log names the refused services. They return with the next publication. The framework makes no
    /// attempt before, because each attempt would cost handles and Service Changed indications. To try again
    /// at once, remove the services and add them again.
    ///
    /// - Parameters:
    ///   - mayFreezeDatabaseHash: Whether the services may have handles from 0x0400 on if no other handles
    ///     are left. From then on, BlueZ no longer updates the Database Hash, for any program, until
    ///     bluetoothd restarts. Centrals that trust the hash then keep services that no longer exist.
    ///   - services: The services. An ``Advertisement`` is an error.
    /// - Throws: The function throws one of these errors, and changes nothing:
    ///   - ``DeclarationError`` when the peripheral cannot have the services, or no handles are left.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/rejected`` when the Bluetooth stack
    ///     refuses the services.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` when the session has ended.
    ///   - `CancellationError` when the task is cancelled before the change begins.
    public func add(
        mayFreezeDatabaseHash: Bool = false,
        @PeripheralBuilder _ services: () -> [PeripheralElement]
    ) async throws {
        try await runtime.add(services(), mayFreezeDatabaseHash: mayFreezeDatabaseHash)
    }

    /// Removes services from the peripheral.
    ///
    /// ```swift
    /// try await session.remove(heartRate)
    /// ```
    ///
    /// The session ends the service in this order:
    ///
    /// 1. ``GATTServiceDeclaration/run(in:)`` of the service is cancelled, and the session waits until it has
    ///    returned. A service that removes itself does not wait.
    /// 2. The session refuses new requests. It drops the values in the queues of the service, and counts them
    ///    as ``UpdateCounters/dropped``. Procedures of control points are cancelled. Calls that send values
    ///    or documents throw ``PeripheralError`` with the code ``PeripheralError/Code/serviceRemoved``. The
    ///    sequences of ``documents(writtenTo:endMarker:maximumSize:)`` and ``writes(to:)`` end.
    /// 3. The session waits until running handlers have answered, for at most 4 seconds. A handler of the
    ///    service that awaits the removal is refused after this time. Remove the service in a
    ///    ``ControlPoint`` without responses instead, because its procedure begins after the answer.
    /// 4. The Bluetooth stack removes the service. If a central has not confirmed an indication of the
    ///    service, the stack first waits for the confirmation for up to 5 seconds. Then the stack disconnects
    ///    the central. If bluetoothd refuses that, the wait continues for up to 26 seconds, until bluetoothd
    ///    itself gives up. BlueZ does not report which central has asked for indications. If the
    ///    characteristic also sends notifications and no indication was confirmed before, the wait is at most
    ///    one second, and no central is disconnected. If bluetoothd refuses to remove the service, the
    ///    peripheral goes off the air, and is published again without the service.
    /// 5. ``SessionEvent/unsubscribed(_:)`` reports the end of each subscription.
    ///
    /// If the service is added again, each ``PersistentValue`` begins with its initial value.
    ///
    /// If the run ends or is cancelled meanwhile, it waits until the removal has ended. A cancelled run also
    /// cancels the handlers, but waits for confirmations like any other run.
    ///
    /// Other services are not affected. The order of changes, the effect of a cancellation, and the behavior
    /// while the peripheral is not published are those of ``add(mayFreezeDatabaseHash:_:)``.
    ///
    /// - Parameter services: Present services.
    /// - Throws: The function throws one of these errors, and changes nothing:
    ///   - ``DeclarationError`` when another service needs the service, for example because it includes it.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when a service is not
    ///     present.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` when the session has ended.
    ///   - `CancellationError` when the task is cancelled before the change begins.
    public func remove(_ services: any GATTServiceDeclaration...) async throws {
        try await runtime.remove(services.map(\.service))
    }

    /// Replaces services by other services.
    ///
    /// ```swift
    /// try await session.replace(heartRate) {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
    /// }
    /// ```
    ///
    /// The function is equal to ``add(mayFreezeDatabaseHash:_:)`` followed by ``remove(_:)``, without another
    /// change in between. The function first removes the earlier services if the new services use the same
    /// `Characteristic` constants or the same handles, or if there are too few handles below 0x0400 for both.
    /// Services that the declaration or the version of BlueZ does not allow are refused before that, and
    /// nothing changes. If the Bluetooth stack then refuses the new services, the earlier services return,
    /// but centrals have to subscribe again. The values of each ``PersistentValue`` with the same constant
    /// stay the same if the earlier services are removed first.
    ///
    /// - Parameters:
    ///   - services: Present services.
    ///   - mayFreezeDatabaseHash: See ``add(mayFreezeDatabaseHash:_:)``.
    ///   - replacements: The new services.
    /// - Throws: The errors of ``add(mayFreezeDatabaseHash:_:)`` and ``remove(_:)``.
    public func replace(
        _ services: any GATTServiceDeclaration...,
        mayFreezeDatabaseHash: Bool = false,
        @PeripheralBuilder with replacements: () -> [PeripheralElement]
    ) async throws {
        try await runtime.replace(
            services.map(\.service),
            with: replacements(),
            mayFreezeDatabaseHash: mayFreezeDatabaseHash
        )
    }
}
