internal import Logging
internal import PeripheralCore
private import Synchronization

/// A running peripheral: the state that the backend and the session of the program share.
final class PeripheralRuntime: PeripheralHost {
    private struct State {
        var isStopped = false
        private var wasPublished = false
        var register = CentralRegister()
        /// The state that the backend has reported in this run; `nil` if it has reported none.
        var backendState: String?

        /// Records that the peripheral is published.
        ///
        /// - Returns: Whether the peripheral was published before.
        mutating func noteIsPublished() -> Bool {
            defer { wasPublished = true }
            return wasPublished
        }
    }

    let publication: BackendPublication
    let peripheralState: CurrentState
    let server: AttributeServer
    let tasks: RequestTasks
    let procedures: Procedures
    let pairingControl: PairingControl
    private let pairing: PairingAnswerer
    let updates: UpdateSender
    let advertising: AdvertisingControl
    /// Saves the state for the next run; `nil` without a restoration identifier.
    let preservation: Preservation?
    let persistentValues: PersistentValues
    let declaration: CurrentDeclaration
    let services = ServiceChanges()
    let channels: Channels
    let logger: Logger
    let activity: ActivityLog
    private let state = Mutex(State())
    private let events = Broadcast<SessionEvent>(capacity: 1024)
    private let (bondDoubts, verifyBonds) = AsyncStream.makeStream(
        of: Void.self,
        bufferingPolicy: .bufferingNewest(1)
    )
    private let (published, publish) = AsyncStream.makeStream(
        of: Void.self,
        bufferingPolicy: .bufferingNewest(1)
    )

    init(
        _ peripheral: Peripheral,
        publication: BackendPublication,
        declared: DeclaredState,
        start: RestorationStart?,
        savingEvery interval: Duration,
        clock: any Clock<Duration>,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        self.publication = publication
        peripheralState = peripheral.state
        tasks = RequestTasks(clock: clock, logger: logger)
        procedures = Procedures(clock: clock, logger: logger)
        let preservation = start.map { [events] start in
            Preservation(start, savingEvery: interval, clock: clock, wallClock: wallClock, logger: logger) {
                events.send($0, keeping: true)
            }
        }
        self.preservation = preservation
        let declaration = CurrentDeclaration(declared)
        self.declaration = declaration
        self.logger = logger
        channels = Channels(peripheral.listeners, logger: logger)
        activity = ActivityLog(of: peripheral.name, declaration, to: logger)
        updates = UpdateSender(
            policies: declared.updatePolicies,
            clock: clock,
            sending: preservation,
            activity: activity
        )
        persistentValues = PersistentValues(
            declared.persistentValues.mapValues(\.declaration),
            values: start?.values ?? [:],
            durableLimit: declaration.durableLimit,
            preservation: preservation
        ) { [updates] handle, value in
            guard declaration.subscribable(handle) != nil else { return }
            _ = try? updates.update(handle, value, to: .subscribers)
        }
        server = AttributeServer(
            declaration,
            persistentValues: persistentValues,
            tasks: tasks,
            procedures: procedures,
            logger: logger
        )
        pairingControl = PairingControl(
            peripheral.pairing.policy,
            bonds: start?.state.bonds ?? [],
            stopwatch: Stopwatch(clock),
            logger: logger
        ) { [updates] in
            try updates.link()
        } report: { [events, activity] event in
            activity.log([event])
            events.send(event)
        } preserve: {
            preservation?.bondsChanged($0)
        }
        pairing = PairingAnswerer(
            pairing: peripheral.passkeyDisplay.observing(peripheral.pairing),
            control: pairingControl,
            tasks: tasks,
            clock: clock,
            logger: logger
        )
        advertising = AdvertisingControl(of: peripheral, clock: clock, logger: logger) {
            preservation?.advertised($0)
        }
        if let places = start?.formerPlaces { services.state.withLock { $0.formerPlaces = places } }
    }

    /// The state that the backend needs in the next run.
    var backendState: String { state.withLock(\.backendState) ?? publication.backendState }

    // MARK: For the backend

    func read(_ request: BackendReadRequest) -> BackendAnswer {
        let answer = server.read(request, in: PeripheralSession(runtime: self))
        return activity.isTracing ? activity.trace(answer, to: request) : answer
    }

    func write(_ request: BackendWriteRequest) -> BackendAnswer {
        let answer = server.write(request, in: PeripheralSession(runtime: self))
        return activity.isTracing ? activity.trace(answer, to: request) : answer
    }

    func answer(_ request: BackendPairingRequest) async -> BackendPairingAnswer {
        await pairing.answer(request)
    }

    var allowsPairing: Bool { pairingControl.isAllowed }

    func open(_ channel: any BackendChannel, of central: Central.ID, through listener: Int) {
        guard let central = register.centrals.first(where: { $0.id == central }) else {
            return channel.abort()
        }
        channels.open(channel, of: central, through: listener, in: PeripheralSession(runtime: self))
    }

    func handle(_ event: BackendEvent) {
        switch event {
        case .published(let published):
            preservation?.published(on: published.adapter)
            updates.begin(published)
            activity.published(with: published.completionReporting)
            // Meanwhile, bonds may have been removed, or the adapter may have changed. The check requires the
            // link.
            if state.withLock({ $0.noteIsPublished() }) { verifyBonds.yield() }
            pairingControl.published()
            advertising.begin(published.link)
            services.begin(published.link)
            peripheralState.assume(.onTheAir)
            activity.stateChanged(to: peripheralState.current, isPublished: true)
            publish.yield()
        case .suspended:
            suspend()
        case .stateChanged(let new):
            peripheralState.report(new)
            activity.stateChanged(to: new)
        case .handleAssigned(let handle, let onAir):
            server.handlesOnAir.assign(onAir, to: handle)
            declaration.assigned(onAir, to: handle)
            if preservation == nil, onAir.rawValue >= FormerPlaces.endOfHash, !isPinned(handle) {
                reportFrozenHash()
            }
            preservation?.assigned(onAir, to: handle)
        case .backendStateChanged(let new):
            state.withLock { $0.backendState = new }
            preservation?.backendStateChanged(new)
        case .listening(let listener, let psm):
            channels.listening(listener, on: psm)
        case .advertisementEnded(let number):
            if let advertisement = advertising[number] { events.send(.advertisementEnded(advertisement)) }
        case .connected(let central):
            updates.connected(central)
            let changed = preservation?.connected(central, formerly: address(of: central.id)) ?? []
            note { $0.connected(central) }
            pairingControl.connected(central)
            report(changed)
        case .disconnected(let central, let reason):
            server.forget(central)
            updates.disconnected(central)
            advertising.centralDisconnected()
            channels.disconnected(central)
            if let address = address(of: central) { preservation?.disconnected(address) }
            pairingControl.disconnected(central)
            note { $0.disconnected(central, because: reason) }
            // A handler that was still running may have requested a connection number in the meantime.
            server.connections.end(central)
        case .forgotten(let central):
            activity.forgotten(central)
            verifyBonds.yield()
        case .bondRemoved(let central):
            pairingControl.bondRemoved(central)
            activity.log([.bondRemoved(central)])
            events.send(.bondRemoved(central))
        case .subscribed(var subscription):
            guard let seen = self.subscription(subscription) else { return }
            subscription.kind = seen.kind
            updates.subscribed(subscription)
            noteSubscriber(seen) { $0.subscribed(seen) }
        case .subscriptionChanged(var subscription):
            guard let seen = self.subscription(subscription) else { return }
            subscription.kind = seen.kind
            updates.changed(subscription)
            noteSubscriber(seen) { $0.changed(seen) }
        case .unsubscribed(let characteristic, let central):
            subscriptionEnded(characteristic, by: central, isLost: false)
        case .subscriptionLost(let characteristic, let central):
            subscriptionEnded(characteristic, by: central, isLost: true)
        case .windowChanged(let central, let window):
            updates.windowChanged(of: central, to: window)
        case .updateTaken(let update):
            updates.taken(update)
        case .updateEnded(let update, let outcome):
            updates.ended([(update, outcome)])
        case .updatesEnded(let ended):
            updates.ended(ended)
        }
    }

    private func subscriptionEnded(
        _ characteristic: AttributeHandle,
        by central: Central.ID?,
        isLost: Bool
    ) {
        updates.unsubscribed(characteristic, by: central)
        if let central, let address = address(of: central) {
            if isLost {
                preservation?.lost(address, from: characteristic)
            } else {
                preservation?.unsubscribed(address, from: characteristic)
            }
        }
        note { $0.unsubscribed(characteristic, by: central) }
        if let central { procedures.cancel(for: central, of: characteristic) }
    }

    /// Whether the program has chosen the handles of the service of an attribute.
    private func isPinned(_ handle: AttributeHandle) -> Bool {
        let table = publication.table
        return table[handle].map { table.services[$0.kind.service].handle != nil } ?? false
    }

    private func suspend() {
        for central in register.centrals { server.forget(central.id) }
        procedures.cancelAll()
        pairingControl.suspended()
        channels.suspended()
        updates.suspend()
        preservation?.suspended()
        peripheralState.change { ($0.isRegistered, $0.isAdvertising) = (false, false) }
        note { $0.reset() }
        activity.stateChanged(to: peripheralState.current)
    }

    /// Returns the address that identifies a central; `nil` if the central is not connected.
    private func address(of central: Central.ID) -> DeviceAddress? {
        let register = self.register
        let known = register.centrals + register.subscriptions.compactMap(\.central)
        return known.first { $0.id == central }?.address
    }

    /// Handles a subscription.
    ///
    /// The subscription is preserved before the program receives the event. Durable updates that the program
    /// sends afterwards therefore include this subscriber.
    private func noteSubscriber(
        _ subscription: Subscription,
        _ change: (inout CentralRegister) -> [SessionEvent]
    ) {
        let changed = preservation?.subscribed(subscription) ?? []
        note(change)
        report(changed)
    }

    /// Reports changes of restored subscribers to the program, and sends durable updates to them.
    private func report(_ changed: [RestoredSubscriber]) {
        for subscriber in changed { events.send(.restoredSubscriberChanged(subscriber), keeping: true) }
        updates.sendRetained()
    }

    func note(_ change: (inout CentralRegister) -> [SessionEvent]) {
        let changes = state.withLock { change(&$0.register) }
        activity.log(changes)
        for event in changes { events.send(event) }
    }

    /// The subscription in the form for the program.
    private func subscription(_ subscription: BackendSubscription) -> Subscription? {
        guard let characteristic = declaration.subscribable(subscription.characteristic) else { return nil }
        let onlyKind: UpdateKind? =
            switch (
                characteristic.properties.contains(.notify), characteristic.properties.contains(.indicate)
            ) {
            case (true, false): .notification
            case (false, true): .indication
            default: nil
            }
        return Subscription(
            characteristic: characteristic.uuid,
            central: subscription.central,
            kind: subscription.kind ?? onlyKind,
            handle: subscription.characteristic
        )
    }

    func untilAnswered() async {
        await tasks.untilAnswered()
    }

    // MARK: For the run

    /// Answers the requests of late handlers, gives up unconfirmed updates, and slows advertisements down,
    /// until the calling task is cancelled.
    func runDeadlines() async {
        async let answers: Void = tasks.runDeadlines()
        async let pairing: Void = pairingControl.runDeadlines()
        async let slowdowns: Void = advertising.runSlowdowns()
        await updates.runDeadlines()
        _ = await (answers, pairing, slowdowns)
    }

    /// Cancels running handlers, and all later handlers of requests.
    func cancelHandlers() {
        activity.isEnding()
        tasks.cancelAll()
        channels.cancelHandlers()
        procedures.stop()
    }

    /// Ends the procedures of control points that have no response, while the session is still valid.
    func finishSilentProcedures() async {
        await procedures.finishSilent()
    }

    /// Ends the handlers that still run.
    func endHandlers() async {
        await tasks.end()
        await channels.endHandlers()
        await procedures.end()
    }

    // MARK: For the session

    /// Waits until the backend has published the peripheral.
    ///
    /// - Throws: `CancellationError`.
    func untilPublished() async throws {
        for await _ in published { return }
        throw CancellationError()
    }

    /// Sends durable updates whenever others are retained or saved, until the session is over.
    func sendDurableUpdates() async {
        guard let preservation else { return }
        while !state.withLock(\.isStopped) {
            updates.sendRetained()
            await preservation.outboxWakeup.wait()
        }
    }

    /// Preserves a durable update for its subscribers until it is sent.
    ///
    /// - Returns: Whether there is room for the update; `nil` if updates of the characteristic are not
    ///   durable.
    func post(_ value: [UInt8], of characteristic: AttributeHandle) throws(PeripheralError) -> Bool? {
        guard let preservation, let limit = declaration.durableLimit(characteristic) else { return nil }
        try checkIsRunning()
        try updates.checkIsOpen(characteristic)
        return preservation.post(value, of: characteristic, limit: limit)
    }

    /// Sends an update to all subscribers, as the characteristic declares.
    func notify(_ characteristic: AttributeHandle, _ value: [UInt8]) async throws {
        guard let preservation, let limit = declaration.durableLimit(characteristic) else {
            return try await updates.notify(characteristic, value, to: .subscribers)
        }
        try updates.checkIsOpen(characteristic)
        try await preservation.notify(value, of: characteristic, limit: limit)
    }

    /// Waits until there is room for an update to all subscribers.
    func ready(_ characteristic: AttributeHandle) async throws {
        guard let preservation, let limit = declaration.durableLimit(characteristic) else {
            return try await updates.ready(characteristic, for: .subscribers)
        }
        try await preservation.untilRoom(of: characteristic, limit: limit)
    }

    /// Checks which of the expected subscribers are no longer bonded.
    func examineBonds() async {
        guard let preservation, preservation.isExpectingCentrals else { return }
        do {
            preservation.bonded(try await link().bondedCentrals())
        } catch {
            // The subscribers stay expected, because it is unknown whether they are still bonded.
        }
    }

    /// Checks bonds again whenever they may have been removed, until the session is over.
    func keepExaminingBonds() async {
        for await _ in bondDoubts { await examineBonds() }
    }

    /// Begins to stop.
    ///
    /// The session is invalid from now on.
    func stop() {
        activity.isEnding()
        state.withLock { $0.isStopped = true }
        preservation?.freezeSubscribers()
        // This call ends the calls that wait for room. If the run is cancelled, the cancellation ends those
        // calls.
        preservation?.outboxChanges.finish()
        preservation?.outboxWakeup.wake()
        verifyBonds.finish()
        pairingControl.stop()
        updates.stop()
        advertising.stop()
        services.stop()
        channels.stop()
        events.finish()
        persistentValues.close()
        server.finishStreams()
        connections.endAll()
        procedures.stop()
    }

    /// The link to the backend, while the session is valid.
    func link() throws(PeripheralError) -> any BackendLink {
        try updates.link()
    }

    /// Throws ``PeripheralError`` with the code `stopped` if the session is no longer valid.
    func checkIsRunning() throws(PeripheralError) {
        guard state.withLock({ $0.isStopped }) else { return }
        throw .stopped
    }

    var register: CentralRegister {
        state.withLock { $0.register }
    }

    /// Returns the events that follow this call.
    ///
    /// - Parameter isService: Whether a service listens. A service does not receive the events that were
    ///   retained for the program.
    /// - Returns: The events, until the session ends.
    func listen(asService isService: Bool = false) -> AsyncStream<SessionEvent> {
        events.listen(takingKept: !isService)
    }

    /// The buffer of the writes to a characteristic; `nil` if the characteristic has no stream.
    func writeBuffer(of characteristic: AttributeHandle) -> WriteBuffer? {
        server.writeBuffer(of: characteristic)
    }

    /// The numbers that distinguish the connections of a central.
    var connections: ConnectionNumbers { server.connections }

    /// The handle on the air; `nil` if the backend does not report the handle.
    func handleOnAir(_ handle: AttributeHandle) -> AttributeHandle? {
        server.handlesOnAir[handle]
    }

    func valueHandle(of characteristic: CharacteristicDeclaration) throws(PeripheralError) -> AttributeHandle
    {
        try declaration.valueHandle(of: characteristic)
    }

    var updateStatistics: [UpdateStatistics] { statistics(updates.reports) }

    /// All updates since the run began, those of removed services last.
    var updateTotals: [UpdateStatistics] {
        let present = statistics(updates.totals)
        guard (try? checkIsRunning()) != nil else { return present }
        return present
            + services.state.withLock(\.removedTotals).map {
                UpdateStatistics(characteristic: $0.characteristic, central: nil, counters: $0.counters)
            }
    }

    private func statistics(_ reports: [QueueReport]) -> [UpdateStatistics] {
        reports.compactMap { report in
            guard let characteristic = declaration.subscribable(report.characteristic) else { return nil }
            return UpdateStatistics(
                characteristic: characteristic.uuid,
                central: report.central,
                counters: report.counters
            )
        }
    }

    /// Waits until the stack has forwarded all earlier responses.
    func untilAnswersAreForwarded() async {
        await (try? link())?.untilAnswersAreForwarded()
    }

    /// Waits until all earlier updates to a central have completed, and later values cannot overtake them.
    ///
    /// - Throws: `CancellationError`, or ``PeripheralError`` with the code `stopped`.
    func untilUpdatesAreForwarded(for central: Central.ID) async throws {
        try await updates.untilCompleted(for: central)
        await (try? link())?.untilUpdatesAreForwarded(for: central)
        // The link returns early if the task is cancelled.
        try Task.checkCancellation()
    }

    /// Waits until all earlier updates have completed, and later values cannot overtake them.
    ///
    /// - Throws: `CancellationError`, or ``PeripheralError`` with the code `stopped`.
    func untilUpdatesAreForwarded() async throws {
        try checkIsRunning()
        try await updates.untilCompleted(for: nil)
        for central in register.centrals { await (try? link())?.untilUpdatesAreForwarded(for: central.id) }
        try Task.checkCancellation()
    }

    /// Waits until a characteristic has a subscriber, and returns its subscription.
    ///
    /// - Throws: `CancellationError`, or ``PeripheralError`` with the code `stopped`.
    func untilSubscribed(to characteristic: AttributeHandle) async throws -> Subscription {
        // The events begin before the check, so that no subscription is missed.
        var events = listen(asService: true).makeAsyncIterator()
        while true {
            if let subscription = register.subscriptions(to: characteristic).first { return subscription }
            guard await events.next() != nil else {
                try Task.checkCancellation()
                throw PeripheralError.stopped
            }
        }
    }

    /// Sends the response of a control point and waits until the update with the response has ended.
    func respond(
        _ response: [UInt8],
        of controlPoint: AttributeHandle,
        to recipients: BackendUpdate.Recipients
    ) async throws {
        if declaration.subscribable(controlPoint)?.properties.contains(.indicate) == true {
            try await indicate(controlPoint, response, to: recipients)
        } else {
            try await updates.notify(controlPoint, response, to: UpdateRecipients(recipients))
        }
    }

    func indicate(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        to recipients: BackendUpdate.Recipients
    ) async throws {
        try await updates.indicate(characteristic, value, to: recipients)
    }
}
