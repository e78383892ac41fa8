internal import Logging
internal import PeripheralCore
private import Synchronization

/// Answers the requests of centrals according to the declaration.
///
/// Requests for known values are answered at once. Only the answers that need a handler are deferred.
final class AttributeServer: Sendable {
    private let attributes: Mutex<ServedAttributes>
    private let streams: WriteStreams
    let handlesOnAir = HandlesOnAir()
    let connections = ConnectionNumbers()
    private let logger: Logger
    private let declaration: CurrentDeclaration
    private let persistentValues: PersistentValues
    private let snapshots = Mutex(ReadSnapshots())
    private let writeOrder = WriteOrder()
    private let tasks: RequestTasks
    let procedures: Procedures

    typealias Entry = ServedAttributes.Entry

    init(
        _ declaration: CurrentDeclaration,
        persistentValues: PersistentValues,
        tasks: RequestTasks,
        procedures: Procedures,
        logger: Logger
    ) {
        self.declaration = declaration
        self.persistentValues = persistentValues
        self.tasks = tasks
        self.procedures = procedures
        self.logger = logger
        streams = WriteStreams(of: connections)
        attributes = Mutex(Self.attributes(of: declaration, persistentValues))
    }

    private static func attributes(
        of declaration: CurrentDeclaration,
        after earlier: ServedAttributes? = nil,
        _ persistentValues: PersistentValues
    ) -> ServedAttributes {
        ServedAttributes(of: declaration.declared, after: earlier) { handle, characteristic in
            guard let take = characteristic.persistentValue?.handler else { return nil }
            return { value, central, session in
                try await persistentValues.write(value, to: handle) {
                    var updates = UpdateBatch(of: declaration)
                    try await take(value, central, session, &updates)
                    return updates.updates
                }
            }
        }
    }

    /// Serves the attributes of the current declaration from now on.
    func declarationChanged() {
        attributes.withLock {
            $0 = Self.attributes(of: declaration, after: $0, persistentValues)
        }
    }

    /// Refuses requests for a service that is about to be removed.
    func close(_ handles: ClosedRange<AttributeHandle>) {
        attributes.withLock { $0.close(handles) }
    }

    /// Drops what is known about the attributes of a removed service.
    func removed(_ handles: ClosedRange<AttributeHandle>) {
        handlesOnAir.remove(handles)
        snapshots.withLock { $0.forget(handles) }
    }

    /// The buffer of writes to a characteristic; `nil` if the characteristic has no stream.
    func writeBuffer(of characteristic: AttributeHandle) -> WriteBuffer? {
        attributes.withLock { $0[characteristic]?.stream }
    }

    /// Stops accepting writes to streams.
    func finishStreams() {
        for stream in attributes.withLock(\.streams) { stream.finish() }
    }

    /// Removes the state of a central that has disconnected.
    func forget(_ central: Central.ID) {
        procedures.cancel(for: central)
        connections.end(central)
        streams.forget(central)
        snapshots.withLock { $0.forget(central) }
    }

    /// Returns the entry of an attribute.
    ///
    /// - Throws: The ATT error for a request.
    private func entry(at handle: AttributeHandle) throws(ATTError) -> Entry {
        let (entry, isClosed) = attributes.withLock { ($0[handle], $0.isClosed(handle)) }
        guard let entry else { throw .invalidHandle }
        guard !isClosed else { throw .unlikelyError }
        return entry
    }

    /// Answers a read.
    ///
    /// Handlers receive the session.
    func read(_ request: BackendReadRequest, in session: PeripheralSession) -> BackendAnswer {
        let entry: Entry
        do { entry = try self.entry(at: request.attribute) } catch { return .immediate(.failure(error)) }
        switch entry.read {
        case nil:
            return .immediate(.failure(.readNotPermitted))
        case .value(let value) where entry.authorization == nil:
            return .immediate(value.attributePart(from: request.offset))
        case .value(let value):
            return answer(request, of: entry, in: session) { _, _ in value }
        case .persistent:
            guard let value = persistentValues[request.attribute] else {
                return .immediate(.failure(.unlikelyError))
            }
            let command = command(before: request, of: entry)
            guard command != nil || entry.authorization != nil else { return answer(request, with: value) }
            return answer(request, of: entry, in: session, after: command) { [persistentValues] _, _ in
                persistentValues[request.attribute] ?? value
            }
        case .handles:
            guard let value = handlesOnAir.value(of: entry.formats) else {
                logger.error(
                    "A read of an aggregate format failed because the stack has not reported the handles of the formats.",
                    metadata: ["peripheral.attribute": .bounded(entry.name)]
                )
                return .immediate(.failure(.unlikelyError))
            }
            return .immediate(value.attributePart(from: request.offset))
        case .handler(let handler):
            return answer(
                request,
                of: entry,
                in: session,
                after: command(before: request, of: entry),
                by: handler
            )
        }
    }

    /// Returns the central's write without response that precedes this read of the same value.
    private func command(before request: BackendReadRequest, of entry: Entry) -> WriteOrder.Ticket? {
        // A write that waits for room in a stream may wait forever.
        guard entry.write != nil, entry.stream == nil else { return nil }
        return writeOrder.command(to: request.attribute, by: request.central)
    }

    /// Answers with a stored value.
    ///
    /// The later parts of a long read come from the value that the first part was read from.
    private func answer(_ request: BackendReadRequest, with value: [UInt8]) -> BackendAnswer {
        let now = tasks.stopwatch.elapsed()
        let snapshot = snapshots.withLock { snapshots in
            if request.offset > 0, let known = snapshots.value(for: request, at: now) { return known }
            snapshots.begin(request, with: value, at: now)
            return value
        }
        return .immediate(snapshot.attributePart(from: request.offset))
    }

    private func answer(
        _ request: BackendReadRequest,
        of entry: Entry,
        in session: PeripheralSession,
        after command: WriteOrder.Ticket? = nil,
        by handler: @escaping ReadHandler
    ) -> BackendAnswer {
        if request.offset > 0,
            let value = snapshots.withLock({ $0.value(for: request, at: tasks.stopwatch.elapsed()) })
        {
            return .immediate(value.attributePart(from: request.offset))
        }
        return .deferred { [self] deliver in
            tasks.start(
                entry.name,
                "read",
                of: request.attribute,
                by: request.central.id,
                isTimed: true,
                pace: entry.pace,
                deliver: deliver
            ) {
                await self.value(for: request, of: entry, in: session, after: command, by: handler)
            }
        }
    }

    private func value(
        for request: BackendReadRequest,
        of entry: Entry,
        in session: PeripheralSession,
        after command: WriteOrder.Ticket?,
        by handler: ReadHandler
    ) async -> BackendAnswer.Outcome {
        if let command {
            await writeOrder.end(of: command)
            // The read has already been answered.
            guard !Task.isCancelled else { return .failure(.unlikelyError) }
        }
        let value: [UInt8]
        do {
            try await entry.authorize(request.central)
            value = try await handler(request.central, session)
        } catch {
            return .failure(attError(for: error, from: entry, "read"))
        }
        guard entry.length.allows(value.count) else {
            logInvalidLength(value.count, of: entry)
            return .failure(.unlikelyError)
        }
        // If the handler was late, the read has already been answered. In the meantime, the central may have
        // read another value.
        if !Task.isCancelled {
            snapshots.withLock { $0.begin(request, with: value, at: tasks.stopwatch.elapsed()) }
        }
        return value.attributePart(from: request.offset)
    }

    /// Logs that the value of a handler has a length that the attribute cannot have, or that is not declared.
    private func logInvalidLength(_ count: Int, of entry: Entry) {
        guard count <= maximumValueLength else {
            logger.error(
                "A read was refused with 'unlikely error' because the handler's value is too long for an attribute. Shorten the value, or send it as a document.",
                metadata: [
                    "peripheral.attribute": .bounded(entry.name),
                    "peripheral.length": "\(count)",
                    "peripheral.maximum": "\(maximumValueLength)",
                ]
            )
            return
        }
        logger.error(
            "A read was refused with 'unlikely error' because the handler's value has an invalid length.",
            metadata: [
                "peripheral.attribute": .bounded(entry.name),
                "peripheral.length": "\(count)",
                "peripheral.declared": "\(entry.length)",
            ]
        )
    }

    /// Answers a write.
    ///
    /// Handlers and the procedures of control points receive the session.
    func write(_ request: BackendWriteRequest, in session: PeripheralSession) -> BackendAnswer {
        let entry: Entry
        do { entry = try self.entry(at: request.attribute) } catch { return .immediate(.failure(error)) }
        guard entry.write != nil || entry.controlPoint != nil else {
            return .immediate(.failure(.writeNotPermitted))
        }
        guard !request.isOnlyAuthorization else {
            return authorize(request, of: entry)
        }
        guard request.offset == 0 else {
            return .immediate(.failure(.invalidOffset))
        }
        guard entry.length.allows(request.value.count) else {
            return refuse(request, of: entry, with: .invalidAttributeValueLength)
        }
        guard let ticket = writeOrder.ticket(for: request) else {
            logger.warning(
                "A write was refused because the central writes faster than the handlers finish.",
                metadata: ["peripheral.attribute": .bounded(entry.name)]
            )
            return refuse(request, of: entry, with: .insufficientResources)
        }
        let entrance = entry.stream.map { streams.entrance(of: request, into: $0) }
        let carryOut = { @Sendable [self] (deliver: @escaping @Sendable (BackendAnswer.Outcome) -> Void) in
            let procedure = entry.controlPoint.map { _ in procedures.makeNumber() }
            tasks.start(
                entry.name,
                "write",
                of: request.attribute,
                by: request.central.id,
                isTimed: request.expectsResponse,
                pace: entry.pace,
                deliver: procedure.map { procedures.delivering(the: $0, by: deliver) } ?? deliver
            ) {
                let outcome: BackendAnswer.Outcome? = await self.writeOrder.run(ticket) {
                    do {
                        try await entry.authorize(request.central)
                        try await entry.write?(request.value, request.central, session)
                        if let entrance { try await entrance.buffer.append(entrance.write) }
                        if let procedure {
                            try await self.admit(procedure, for: request, of: entry, in: session)
                        }
                        return .success([])
                    } catch {
                        if let entrance { await self.streams.reportLoss(of: request, at: entrance) }
                        return .failure(self.attError(for: error, from: entry, "write"))
                    }
                }
                if outcome == nil, let entrance { self.streams.abandoned(request, at: entrance) }
                return outcome ?? .failure(.unlikelyError)
            }
        }
        // A write that waits for room in a stream may wait forever. A write without response is therefore
        // answered at once.
        guard request.expectsResponse || entrance == nil else {
            carryOut { _ in }
            return .immediate(.success([]))
        }
        return .deferred(carryOut)
    }

    private func refuse(
        _ request: BackendWriteRequest,
        of entry: Entry,
        with error: ATTError
    ) -> BackendAnswer {
        if entry.stream != nil { streams.refused(request) }
        return .immediate(.failure(error))
    }

    /// Admits the procedure that a write to a control point requests.
    private func admit(
        _ number: ProcedureTable.Number,
        for request: BackendWriteRequest,
        of entry: Entry,
        in session: PeripheralSession
    ) async throws {
        guard let handler = entry.controlPoint else { return }
        try await procedures.admit(
            Procedures.Request(
                number: number,
                place: ProcedureTable.Place(controlPoint: request.attribute, central: request.central.id),
                content: handler(request.value),
                central: request.central,
                session: session,
                name: entry.name,
                length: entry.length
            )
        )
    }

    /// Answers a request that only asks whether the central can write.
    private func authorize(_ request: BackendWriteRequest, of entry: Entry) -> BackendAnswer {
        guard entry.authorization != nil else { return .immediate(.success([])) }
        return .deferred { [self] deliver in
            tasks.start(
                entry.name,
                "authorize",
                of: request.attribute,
                by: request.central.id,
                isTimed: request.expectsResponse,
                pace: entry.pace,
                deliver: deliver
            ) {
                do {
                    try await entry.authorize(request.central)
                    return .success([])
                } catch {
                    return .failure(self.attError(for: error, from: entry, "authorize"))
                }
            }
        }
    }

    /// Returns the ATT error for an error of a handler.
    ///
    /// The method logs an error that has no ATT error code, and bytes that cannot be decoded.
    private func attError(for error: any Error, from entry: Entry, _ operation: String) -> ATTError {
        if let error = error as? UndecodableWrite {
            logger.warning(
                "A write was refused because its bytes are no value of the declared type. The handler was not called.",
                metadata: [
                    "peripheral.attribute": .bounded(entry.name),
                    "peripheral.type": "\(error.type)",
                    "peripheral.length": "\(error.length)",
                    "peripheral.reason": "\(error.reason)",
                    "peripheral.error": "\(error.attError)",
                ]
            )
        }
        if let error = error as? any ATTErrorConvertible, error.attError.rawValue != 0 {
            return error.attError
        }
        // A handler may throw because it was cancelled. This error is not logged, and the request has already
        // been answered.
        guard !(error is CancellationError && Task.isCancelled) else { return .unlikelyError }
        let reason =
            error is RestorationError
            ? "its value could not be saved."
            : "its handler threw an error with no ATT error code. Throw an ATTError, or make the error conform to ATTErrorConvertible."
        logger.warning(
            "A request was refused with 'unlikely error' because \(reason)",
            metadata: [
                "peripheral.attribute": .bounded(entry.name),
                "peripheral.operation": "\(operation)",
                "peripheral.error": "\(error)",
            ]
        )
        return .unlikelyError
    }
}

extension [UInt8] {
    /// The part of an attribute's value that a read from an offset returns.
    ///
    /// See Core Specification, Vol 3, Part F, 3.4.4.5.
    fileprivate func attributePart(from offset: Int) -> BackendAnswer.Outcome {
        guard offset > 0 else { return .success(self) }
        guard offset <= count else { return .failure(.invalidOffset) }
        return .success(Array(self[offset...]))
    }
}
