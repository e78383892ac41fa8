internal import Logging
internal import PeripheralBlueZModel
internal import PeripheralCore
public import PeripheralKit

/// A Bluetooth stack in memory, for tests.
///
/// To create a central that can discover and use a `Peripheral` on this stack, call
/// ``makeCentral(of:patience:clock:)``.
///
/// Most tests use `Peripheral.test(mtu:logger:_:)`. Use `InMemoryBackend` directly to test code that calls
/// `run`, or to pass specific arguments to `run`:
///
/// ```swift
/// let backend = InMemoryBackend()
/// try await peripheral.run(on: backend) { session in
///     let central = backend.makeCentral(of: peripheral)
///     try await central.connect()
///     …
/// }
/// ```
///
/// The stack imitates BlueZ 5.66, or another ``InMemoryStack``. It differs from BlueZ in these points:
///
/// - Subscriptions: The in-memory stack reports the end of each subscription. BlueZ reports the end of only
///   some subscriptions.
/// - Pairing: As with the BlueZ setting `JustWorksRepairing = confirm`, the program decides whether a bonded
///   central can pair again using Just Works.
/// - Advertising: Advertisements continue while centrals are connected, except advertisements that declare a
///   pause during connections. The in-memory stack ignores the `timeout` of an advertisement.
/// - Handlers: Each handler runs in a separate task.
/// - Updates: Each update completes without delay, regardless of the send rate. A central stores received
///   updates until the test reads them.
public struct InMemoryBackend: PeripheralBackend {
    private let stack: InMemoryStack
    private let server: VirtualGATTServer
    private let store = InMemoryRestorationStore()

    /// Creates a Bluetooth stack in memory.
    ///
    /// The new stack contains no peripherals. The stack is independent of other stacks.
    ///
    /// - Parameter stack: The stack to imitate. The default is the oldest supported version of BlueZ.
    public init(as stack: InMemoryStack = .bluez(BlueZRules.minimumVersion)) {
        self.stack = stack
        server = VirtualGATTServer(
            deviceName: Self.name,
            version: stack.baseVersion,
            address: .virtualHost,
            asksBeforeRepairing: true
        )
    }

    /// The device name while no peripheral is published.
    private static let name = "Virtual"

    /// Creates a central that can connect to the peripherals of this stack.
    ///
    /// The central is not connected yet.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral under test. The declaration of the peripheral determines the position
    ///     of each `Characteristic` in the database.
    ///   - patience: The longest time that the central waits for an update before it throws an error.
    ///   - clock: The clock for the time limit `patience`.
    /// - Returns: The central.
    public func makeCentral(
        of peripheral: Peripheral,
        patience: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> VirtualCentral {
        VirtualCentral(of: peripheral, on: server, patience: patience, clock: clock)
    }

    /// The in-memory store, which exists as long as the stack exists.
    ///
    /// If a peripheral runs on the same stack again, the framework restores the peripheral from the store.
    public var restorationStore: (any RestorationStore)? { store }

    /// Publishes the peripheral until the framework stops the backend, or until the task is cancelled.
    public func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        try stack.examine(publication)
        let advertising = InMemoryAdvertising(on: server, capabilities: stack.capabilities)
        try advertising.examine(publication.advertisements)
        let numbers = SubscriptionNumbers()
        let services = InMemoryServices(
            on: server,
            servedBy: HostProvider(
                host: host,
                numbers: numbers,
                stack: stack,
                table: publication.table
            ),
            numbers: numbers
        )
        do {
            try services.add(publication.services)
        } catch {
            throw PeripheralError(
                code: .rejected,
                message: "The in-memory stack refuses the peripheral: \(error)",
                cause: error
            )
        }
        let psms: [UInt16]
        do {
            psms = try server.listen(
                publication.listeners,
                preferring: PreservedListeners(decoding: publication.backendState).psms,
                for: host
            )
        } catch {
            await services.removeAll()
            throw error
        }
        let name = publication.advertisements.first { $0.kind == .connectable }?.localName ?? ""
        let isNamed = !name.isEmpty && server.rename(name, from: Self.name)
        server.setPairingAgent(HostPairingAgent(publication.pairing, for: host, on: server))
        server.isPairable = host.allowsPairing
        let (connectionChanges, changeConnections) = AsyncStream.makeStream(of: Void.self)
        let observer = server.observeConnections { [stack] event in
            host.handle(event, on: stack)
            changeConnections.yield()
        }
        try advertising.set(publication.advertisements)
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        let (confirmations, confirm) = AsyncStream.makeStream(of: BackendEvent.self)
        let (orders, order) = AsyncStream.makeStream(of: InMemoryLink.Order.self)
        let link = InMemoryLink(
            stack: stack,
            publication: publication,
            server: server,
            services: services,
            advertising: advertising,
            host: host,
            numbers: numbers,
            orders: order,
            confirmed: confirm,
            stopped: stop
        )
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await confirmation in confirmations { host.handle(confirmation) }
            }
            group.addTask {
                for await order in orders { link.carryOut(order) }
            }
            group.addTask {
                for await _ in connectionChanges { advertising.refresh() }
            }
            services.reportHandles(to: host)
            if !psms.isEmpty { host.handle(.backendStateChanged(PreservedListeners(psms).text)) }
            for (index, psm) in psms.enumerated() { host.handle(.listening(index, psm: psm)) }
            let published = PublishedPeripheral(
                link: link,
                completionReporting: .observed,
                adapter: server.address
            )
            host.handle(.published(published))
            // Ends when the link is stopped or this task is cancelled.
            for await _ in stopped {}
            changeConnections.finish()
            advertising.end()
            for psm in psms { server.stopListening(psm) }
            await services.removeAll()
            server.stopObserving(observer)
            server.setPairingAgent(nil)
            if isNamed { server.rename(Self.name) }
            order.finish()
            confirm.finish()
        }
    }
}

/// Forwards requests to the running peripheral.
struct HostProvider: VirtualAttributeProvider {
    let host: any PeripheralHost
    let numbers: SubscriptionNumbers
    let stack: InMemoryStack
    let table: AttributeTable

    func read(_ request: BackendReadRequest) async -> Result<[UInt8], ATTError> {
        await outcome(of: host.read(request)).mapError { received($0, from: .read, of: request.attribute) }
    }

    func write(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        var request = request
        request.expectsResponse = withResponse
        return await outcome(of: host.write(request)).map { _ in }
            .mapError { received($0, from: .write, of: request.attribute) }
    }

    /// Returns the error that the central receives, and logs that it differs from that of the handler.
    private func received(
        _ error: ATTError,
        from operation: RequestRefusal.Operation,
        of attribute: AttributeHandle
    ) -> ATTError {
        let received = stack.received(error, from: operation)
        if received != error {
            host.logger.warning(
                """
                BlueZ cannot send this ATT error. The central receives a different error. The errors from 0x80 to \
                0x9F arrive unchanged, such as .application(.x80).
                """,
                metadata: [
                    "peripheral.attribute": "\(table.name(of: attribute))",
                    "peripheral.error": "\(error)",
                    "peripheral.received": "\(received)",
                ]
            )
        }
        return received
    }

    private func outcome(of answer: BackendAnswer) async -> BackendAnswer.Outcome {
        switch answer {
        case .immediate(let outcome): outcome
        case .deferred(let start):
            await withCheckedContinuation { waiting in start { waiting.resume(returning: $0) } }
        }
    }

    func authorizeWrite(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        var request = request
        request.isOnlyAuthorization = true
        return await write(request, withResponse: withResponse)
    }

    func subscriptionChanged(_ change: SubscriptionChange) {
        // The end of the connection reports a suspension. The subscription itself persists.
        guard change.cause != .suspended else { return }
        if change.to == 0 {
            host.handle(.unsubscribed(change.characteristic, by: change.central.id))
        } else {
            let kind: UpdateKind = change.to & 0x0001 != 0 ? .notification : .indication
            if change.from == 0 { numbers.begin(of: change.central.id, for: change.characteristic) }
            let subscription = BackendSubscription(
                characteristic: change.characteristic,
                central: change.central,
                number: numbers.number(of: change.central.id, for: change.characteristic),
                kind: kind,
                isAddressable: stack.canAddress(kind)
            )
            host.handle(change.from == 0 ? .subscribed(subscription) : .subscriptionChanged(subscription))
        }
    }

    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central) {}
}

extension PeripheralHost {
    /// Reports a connection event as backend events.
    fileprivate func handle(_ event: ConnectionEvent, on stack: InMemoryStack) {
        switch event {
        case .connected(let central), .changed(let central):
            handle(.connected(central))
        case .paired(let central, _):
            handle(.connected(central))
        case .disconnected(let central, let reason):
            handle(.disconnected(central.id, reason: reason))
        case .forgotten(let central):
            handle(.bondRemoved(central))
            handle(.forgotten(central.id))
        case .refusedLength(let refusal):
            logger.warning(
                "\(refusal.explanation(by: stack.name))",
                metadata: ["peripheral.central": "\(refusal.central.address)"]
            )
        case .secured, .pairingFailed:
            break
        }
    }
}
