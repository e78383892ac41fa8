internal import Logging
internal import PeripheralCore
private import Synchronization

/// A peripheral while it runs: what the backend and the session of the program have in common.
final class PeripheralRuntime: PeripheralHost {
    private struct State {
        var link: (any BackendLink)?
        var isStopped = false
        var subscriptions = SubscriptionRegister()
    }

    let publication: Publication
    private let server: AttributeServer
    private let tasks: RequestTasks
    private let pairing: PairingAnswerer
    private let valueHandles: [CharacteristicIdentity: AttributeHandle]
    private let state = Mutex(State())
    private let published: AsyncStream<any BackendLink>
    private let publish: AsyncStream<any BackendLink>.Continuation

    init(_ peripheral: Peripheral, publication: Publication, clock: any Clock<Duration>, logger: Logger) {
        self.publication = publication
        tasks = RequestTasks(clock: clock, logger: logger)
        server = AttributeServer(
            services: peripheral.services,
            table: publication.table,
            tasks: tasks,
            logger: logger
        )
        pairing = PairingAnswerer(
            pairing: peripheral.pairing,
            tasks: tasks,
            clock: clock,
            logger: logger
        )
        var handles: [CharacteristicIdentity: AttributeHandle] = [:]
        for attribute in publication.table.attributes {
            guard case .characteristicValue(let service, let characteristic) = attribute.kind else {
                continue
            }
            let declaration = peripheral.services[service].characteristics[characteristic]
            handles[declaration.identity] = attribute.handle
        }
        valueHandles = handles
        (published, publish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: For the backend

    func read(_ request: ReadRequest) -> Answer<[UInt8]> {
        server.read(request)
    }

    func write(_ request: WriteRequest) -> Answer<Void> {
        server.write(request)
    }

    func answer(_ request: PairingRequest) async -> PairingAnswer {
        await pairing.answer(request)
    }

    func handle(_ event: BackendEvent) {
        switch event {
        case .published(let link):
            state.withLock { $0.link = link }
            publish.yield(link)
        case .handlesAssigned(let handles):
            server.handlesOnAir.assign(handles)
        case .subscribed(let characteristic, let central):
            state.withLock { $0.subscriptions.begin(characteristic, by: central) }
        case .unsubscribed(let characteristic, let central):
            state.withLock { $0.subscriptions.end(characteristic, by: central) }
        }
    }

    func untilAnswered() async {
        await tasks.untilAnswered()
    }

    // MARK: For the run

    /// Answers for handlers that are late, until the calling task is cancelled.
    func keepTime() async {
        await tasks.keepTime()
    }

    /// Cancels the handlers that run, and those that are still to come.
    func cancelHandlers() {
        tasks.cancelAll()
    }

    /// Ends the handlers that still run.
    func endHandlers() async {
        await tasks.end()
    }

    // MARK: For the session

    /// Waits until the backend has published the peripheral.
    ///
    /// - Throws: `CancellationError`.
    func untilPublished() async throws {
        for await _ in published { return }
        throw CancellationError()
    }

    /// Begins to stop; from now on, the session is invalid.
    func stop() {
        let link = state.withLock { state in
            state.isStopped = true
            return state.link
        }
        link?.stop()
    }

    /// Throws ``PeripheralError`` with the code `stopped` when the session is no longer valid.
    func checkIsRunning() throws(PeripheralError) {
        guard state.withLock({ $0.isStopped }) else { return }
        throw PeripheralError(code: .stopped, message: "The peripheral is no longer published.")
    }

    func hasSubscribers(_ handle: AttributeHandle) -> Bool {
        state.withLock { $0.subscriptions.hasSubscribers(handle) }
    }

    func valueHandle<Value>(of characteristic: Characteristic<Value>) throws(PeripheralError)
        -> AttributeHandle
    {
        guard let handle = valueHandles[characteristic.declaration.identity] else {
            throw PeripheralError(
                code: .notDeclared,
                message: "Characteristic \(characteristic.uuid) is not part of this peripheral; "
                    + "use the constant that stands in its declaration."
            )
        }
        return handle
    }

    func send(_ update: Update) async throws {
        guard let link = state.withLock({ $0.link }) else {
            throw PeripheralError(code: .stopped, message: "The peripheral is not published.")
        }
        try await link.send(update)
    }
}
