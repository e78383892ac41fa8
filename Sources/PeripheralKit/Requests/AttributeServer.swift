internal import Logging
internal import PeripheralCore
private import Synchronization

/// Answers the requests of centrals according to the declaration.
///
/// Requests for known values are answered at once. Only the answers that need a handler are deferred.
final class AttributeServer: Sendable {
    private let table: AttributeTable
    /// The entries of the attributes in `table`; `nil` if the stack serves the attribute.
    private let entries: [Entry?]
    private let streams: WriteStreams
    let handlesOnAir = HandlesOnAir()
    let connections = ConnectionNumbers()
    private let logger: Logger
    private let persistentValues: PersistentValues
    private let snapshots = Mutex(ReadSnapshots())
    private let writeOrder = WriteOrder()
    private let tasks: RequestTasks
    let procedures: Procedures

    /// The declaration of an attribute.
    ///
    /// This is a class, so that requests share the entry instead of copying it.
    final class Entry: Sendable {
        let name: String
        let read: ReadSource?
        let write: WriteHandler?
        /// Decodes writes that are requests to a control point.
        let controlPoint: ControlPointHandler?
        let authorization: AuthorizationHandler?
        let length: ValueLength
        /// The presentation formats that an aggregate format lists.
        let formats: [AttributeHandle]
        let pace = HandlerPace()

        init(
            _ access: AttributeAccess,
            name: String,
            write: WriteHandler?,
            length: ValueLength = .any,
            formats: [AttributeHandle] = []
        ) {
            self.name = name
            read = access.readSources.first
            self.write = write
            controlPoint = access.controlPointHandler
            authorization = access.authorizationHandlers.first
            self.length = length
            self.formats = formats
        }
    }

    init(
        services: [GATTService],
        table: AttributeTable,
        persistentValues: PersistentValues,
        declared: DeclaredState,
        tasks: RequestTasks,
        procedures: Procedures,
        logger: Logger
    ) {
        self.persistentValues = persistentValues
        self.tasks = tasks
        self.procedures = procedures
        self.logger = logger
        self.table = table
        let formats = PresentationFormatIndex(of: services)
        var buffers: [AttributeHandle: WriteBuffer] = [:]
        entries = table.attributes.map { attribute in
            switch attribute.kind {
            case .characteristicValue(let service, let characteristic):
                let declaration = services[service].characteristics[characteristic]
                var write = declaration.access.writeHandler
                if case .stream(let capacity, let check) = declaration.access.writeTargets.first {
                    buffers[attribute.handle] = WriteBuffer(capacity: capacity)
                    write = { value, _ in try check(value) }
                }
                if case .persistent = declaration.access.writeTargets.first,
                    let take = declaration.persistentValue?.handler
                {
                    write = { value, central in
                        try await persistentValues.write(value, to: attribute.handle) {
                            var updates = UpdateBatch(of: declared)
                            try await take(value, central, &updates)
                            return updates.updates
                        }
                    }
                }
                return Entry(
                    declaration.access,
                    name: "characteristic \(declaration.uuid)",
                    write: write,
                    length: declaration.length
                )
            case .descriptor(let service, let characteristic, let descriptor):
                let parent = services[service].characteristics[characteristic]
                let declaration = parent.descriptors[descriptor]
                var places: [PresentationFormatIndex.Place] = []
                if case .handles(let parts) = declaration.access.readSources.first {
                    places =
                        (try? formats.places(of: parts, service: service, characteristic: characteristic))
                        ?? []
                }
                return Entry(
                    declaration.access,
                    name: "descriptor \(declaration.uuid) of characteristic \(parent.uuid)",
                    write: declaration.access.writeHandler,
                    formats: places.map(table.handle)
                )
            default:
                return nil
            }
        }
        streams = WriteStreams(buffers, of: connections)
    }

    /// The buffer of writes to a characteristic; `nil` if the characteristic has no stream.
    func writeBuffer(of characteristic: AttributeHandle) -> WriteBuffer? {
        streams.buffer(of: characteristic)
    }

    /// Stops accepting writes to streams.
    func finishStreams() {
        streams.finish()
    }

    /// Removes the state of a central that has disconnected.
    func forget(_ central: Central.ID) {
        procedures.cancel(for: central)
        connections.end(central)
        streams.forget(central)
        snapshots.withLock { $0.forget(central) }
    }

    private func entry(at handle: AttributeHandle) -> Entry? {
        table.index(of: handle).flatMap { entries[$0] }
    }

    func read(_ request: BackendReadRequest) -> BackendAnswer {
        guard let entry = entry(at: request.attribute) else {
            return .immediate(.failure(.invalidHandle))
        }
        switch entry.read {
        case nil:
            return .immediate(.failure(.readNotPermitted))
        case .value(let value) where entry.authorization == nil:
            return .immediate(value.attributePart(from: request.offset))
        case .value(let value):
            return answer(request, of: entry) { _ in value }
        case .persistent:
            guard let value = persistentValues[request.attribute] else {
                return .immediate(.failure(.unlikelyError))
            }
            let command = command(before: request, of: entry)
            guard command != nil || entry.authorization != nil else { return answer(request, with: value) }
            return answer(request, of: entry, after: command) { [persistentValues] _ in
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
            return answer(request, of: entry, after: command(before: request, of: entry), by: handler)
        }
    }

    /// Returns the central's write without response that precedes this read of the same value.
    private func command(before request: BackendReadRequest, of entry: Entry) -> WriteOrder.Ticket? {
        // A write that waits for room in a stream may wait forever.
        guard entry.write != nil, streams.buffer(of: request.attribute) == nil else { return nil }
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
        after command: WriteOrder.Ticket? = nil,
        by handler: @escaping @Sendable (Central) async throws -> [UInt8]
    ) -> BackendAnswer {
        if request.offset > 0,
            let value = snapshots.withLock({ $0.value(for: request, at: tasks.stopwatch.elapsed()) })
        {
            return .immediate(value.attributePart(from: request.offset))
        }
        return .deferred { [self] deliver in
            tasks.start(entry.name, isTimed: true, pace: entry.pace, deliver: deliver) {
                await self.value(for: request, of: entry, after: command, by: handler)
            }
        }
    }

    private func value(
        for request: BackendReadRequest,
        of entry: Entry,
        after command: WriteOrder.Ticket?,
        by handler: @Sendable (Central) async throws -> [UInt8]
    ) async -> BackendAnswer.Outcome {
        if let command {
            await writeOrder.end(of: command)
            // The read has already been answered.
            guard !Task.isCancelled else { return .failure(.unlikelyError) }
        }
        let value: [UInt8]
        do {
            try await entry.authorize(request.central)
            value = try await handler(request.central)
        } catch {
            return .failure(attError(for: error, from: entry, "read"))
        }
        guard entry.length.allows(value.count) else {
            logger.error(
                "A read was refused with 'unlikely error' because the handler's value has an invalid length.",
                metadata: [
                    "peripheral.attribute": .bounded(entry.name),
                    "peripheral.length": "\(value.count)",
                    "peripheral.declared": "\(entry.length)",
                ]
            )
            return .failure(.unlikelyError)
        }
        // If the handler was late, the read has already been answered. In the meantime, the central may have
        // read another value.
        if !Task.isCancelled {
            snapshots.withLock { $0.begin(request, with: value, at: tasks.stopwatch.elapsed()) }
        }
        return value.attributePart(from: request.offset)
    }

    /// Answers a write.
    ///
    /// The procedures of control points receive the session.
    func write(_ request: BackendWriteRequest, in session: PeripheralSession) -> BackendAnswer {
        guard let entry = entry(at: request.attribute) else {
            return .immediate(.failure(.invalidHandle))
        }
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
            return refuse(request, with: .invalidAttributeValueLength)
        }
        guard let ticket = writeOrder.ticket(for: request) else {
            logger.warning(
                "A write was refused because the central writes faster than the handlers finish.",
                metadata: ["peripheral.attribute": .bounded(entry.name)]
            )
            return refuse(request, with: .insufficientResources)
        }
        let entrance = streams.entrance(of: request)
        let carryOut = { @Sendable [self] (deliver: @escaping @Sendable (BackendAnswer.Outcome) -> Void) in
            let procedure = entry.controlPoint.map { _ in procedures.makeNumber() }
            tasks.start(
                entry.name,
                isTimed: request.expectsResponse,
                pace: entry.pace,
                deliver: procedure.map { procedures.delivering(the: $0, by: deliver) } ?? deliver
            ) {
                let outcome: BackendAnswer.Outcome? = await self.writeOrder.run(ticket) {
                    do {
                        try await entry.authorize(request.central)
                        try await entry.write?(request.value, request.central)
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

    private func refuse(_ request: BackendWriteRequest, with error: ATTError) -> BackendAnswer {
        streams.refused(request)
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
    /// The method logs an error that has no ATT error code.
    private func attError(for error: any Error, from entry: Entry, _ operation: String) -> ATTError {
        if let error = error as? any ATTErrorConvertible, error.attError.rawValue != 0 {
            return error.attError
        }
        // A handler may throw because it was cancelled. This error is not logged, and the request has already
        // been answered.
        guard !(error is CancellationError && Task.isCancelled) else { return .unlikelyError }
        logger.warning(
            "A request was refused with 'unlikely error' because its handler threw an error with no ATT error code.",
            metadata: [
                "peripheral.attribute": .bounded(entry.name),
                "peripheral.operation": "\(operation)",
                "peripheral.error": "\(error)",
            ]
        )
        return .unlikelyError
    }
}

extension AttributeServer.Entry {
    /// - Throws: The ATT error for a central that is not authorized, or the error of the authorization
    ///   handler.
    fileprivate func authorize(_ central: Central) async throws {
        guard let authorization else { return }
        guard try await authorization(central) else { throw ATTError.insufficientAuthorization }
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

extension AttributeTable {
    func handle(of format: PresentationFormatIndex.Place) -> AttributeHandle {
        descriptorHandle(
            service: format.service,
            characteristic: format.characteristic,
            descriptor: format.descriptor
        )
    }
}

extension AttributeAccess {
    fileprivate var writeHandler: WriteHandler? {
        if case .handler(let handler) = writeTargets.first { handler } else { nil }
    }

    fileprivate var controlPointHandler: ControlPointHandler? {
        if case .controlPoint(let handler, _) = writeTargets.first { handler } else { nil }
    }
}
