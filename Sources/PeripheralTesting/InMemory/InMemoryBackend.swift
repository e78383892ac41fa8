internal import PeripheralCore
public import PeripheralKit
private import Synchronization

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
/// The GATT server behaves like the GATT server of BlueZ 5.87 on a Bluetooth 5 adapter. The in-memory stack
/// behaves as follows:
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
    private let server: VirtualGATTServer
    private let store = InMemoryRestorationStore()

    /// Creates a Bluetooth stack in memory.
    ///
    /// The new stack contains no peripherals. The stack is independent of other stacks.
    public init() {
        server = VirtualGATTServer(
            deviceName: "Virtual",
            version: .v5_87,
            address: .virtualHost,
            asksBeforeRepairing: true
        )
    }

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
        let advertising = InMemoryAdvertising(on: server)
        try advertising.examine(publication.advertisements)
        let numbers = SubscriptionNumbers()
        let application: ApplicationID
        do {
            application = try add(publication, servedBy: HostProvider(host: host, numbers: numbers))
        } catch {
            throw PeripheralError(
                code: .rejected,
                message: "The in-memory stack refuses the peripheral: \(error)",
                cause: error
            )
        }
        server.setPairingAgent(HostPairingAgent(publication.pairing, for: host, on: server))
        let (connectionChanges, changeConnections) = AsyncStream.makeStream(of: Void.self)
        server.observeConnections { event in
            host.handle(event)
            changeConnections.yield()
        }
        try advertising.set(publication.advertisements)
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        let (confirmations, confirm) = AsyncStream.makeStream(of: BackendEvent.self)
        let (orders, order) = AsyncStream.makeStream(of: InMemoryLink.Order.self)
        let link = InMemoryLink(
            server: server,
            application: application,
            table: publication.table,
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
            for (handle, onAir) in server.handles(of: application) {
                host.handle(.handleAssigned(handle, onAir: onAir))
            }
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
            await server.remove(application)
            server.observeConnections(nil)
            server.setPairingAgent(nil)
            order.finish()
            confirm.finish()
        }
    }
}

extension InMemoryBackend {
    /// Adds the services at their previous handles, or else at free handles.
    private func add(
        _ publication: BackendPublication,
        servedBy provider: HostProvider
    ) throws(AttributeTableError) -> ApplicationID {
        let table = publication.table
        let authorized = table.handlesWithAuthorization
        var starts: [Int: AttributeHandle] = [:]
        for service in table.services.indices {
            starts[service] = publication.preservedHandles[table.serviceRange(service).lowerBound]
        }
        do throws(AttributeTableError) {
            return try server.add(table, servedBy: provider, authorizing: authorized, at: starts)
        } catch {
            guard !starts.isEmpty else { throw error }
            return try server.add(table, servedBy: provider, authorizing: authorized)
        }
    }
}

/// The updates that still wait for confirmations.
private final class AwaitedUpdates: Sendable {
    private let updates = Mutex<Set<BackendUpdate.ID>>([])

    func insert(_ update: BackendUpdate.ID) {
        updates.withLock { _ = $0.insert(update) }
    }

    func remove(_ update: BackendUpdate.ID) -> Bool {
        updates.withLock { $0.remove(update) != nil }
    }
}

/// The interface that the stack in memory provides to the running peripheral.
private struct InMemoryLink: BackendLink {
    /// An operation on an update.
    enum Order {
        case send(BackendUpdate)
        case giveUp(BackendUpdate.ID)
    }

    let server: VirtualGATTServer
    let application: ApplicationID
    let table: AttributeTable
    let advertising: InMemoryAdvertising
    let host: any PeripheralHost
    let numbers: SubscriptionNumbers
    /// Subscriptions are reported with the server's lock held and can cause updates, so a task sends the
    /// updates.
    let orders: AsyncStream<Order>.Continuation
    /// Confirmations are reported with the server's lock held as well.
    let confirmed: AsyncStream<BackendEvent>.Continuation
    let stopped: AsyncStream<Never>.Continuation
    private let awaited = AwaitedUpdates()

    func submit(_ update: BackendUpdate) {
        orders.yield(.send(update))
    }

    func giveUp(_ update: BackendUpdate.ID) {
        orders.yield(.giveUp(update))
    }

    func carryOut(_ order: Order) {
        switch order {
        case .send(let update):
            send(update)
        case .giveUp(let id):
            // Each confirmation belongs to a known update, so no wait is necessary.
            endAwaited(id, .failed(code: .unconfirmed, "A central has not confirmed the indication."))
        }
    }

    private func send(_ update: BackendUpdate) {
        let confirmations = AwaitedConfirmations { endAwaited(update.id, $0) }
        let level = table.notifySecurity(of: update.characteristic)
        guard canReach(update.requiredRecipients, by: update, at: level) else {
            return end(update, .failed(.insecure))
        }
        var isWithheld = false
        let recipients = server.deliver(
            update.value,
            of: update.characteristic,
            in: application,
            to: { subscriber in
                // The server's lock is held, so no central subscribes meanwhile.
                let number = numbers.number(of: subscriber.central.id, for: update.characteristic)
                guard update.recipients.include(subscriber.central), number <= update.lastSubscription else {
                    return false
                }
                isWithheld = isWithheld || subscriber.security < level
                return subscriber.security >= level
            },
            completion: { _, outcome in
                if update.awaitsConfirmation { confirmations.note(outcome) }
            }
        )
        guard let recipients else {
            return end(update, .failed(code: .stopped, "The peripheral is no longer published."))
        }
        if recipients.isEmpty, isWithheld { return end(update, .failed(.insecure)) }
        if case .central = update.recipients, recipients.isEmpty {
            return end(update, .failed(.notSubscribed))
        }
        if update.awaitsConfirmation {
            awaited.insert(update.id)
            if isWithheld, update.isForAllSubscribers { confirmations.fail(.insecure) }
            confirmations.expect(recipients.count)
        } else {
            end(update, .completed)
        }
    }

    /// Whether the update can be sent to all of these centrals.
    private func canReach(_ centrals: Set<Central.ID>, by update: BackendUpdate, at level: SecurityLevel)
        -> Bool
    {
        guard !centrals.isEmpty else { return true }
        var missing = centrals
        server.deliver(update.value, of: update.characteristic, in: application) { subscriber in
            if subscriber.security >= level { missing.remove(subscriber.central.id) }
            return false
        }
        return missing.isEmpty
    }

    private func end(_ update: BackendUpdate, _ outcome: BackendUpdateOutcome) {
        host.handle(.updateEnded(update.id, outcome))
    }

    private func endAwaited(_ update: BackendUpdate.ID, _ outcome: BackendUpdateOutcome) {
        guard awaited.remove(update) else { return }
        confirmed.yield(.updateEnded(update, outcome))
    }

    func disconnect(_ central: Central.ID) async throws {
        guard let connected = server.centrals.first(where: { $0.id == central }) else {
            throw PeripheralError(code: .disconnected, message: "Central \(central) is not connected.")
        }
        server.disconnect(connected.linkAddress)
    }

    func bondedCentrals() async throws -> [Central] {
        server.bondedCentrals
    }

    func forget(_ central: Central.ID) async throws {
        let all = server.bondedCentrals + server.centrals
        guard let known = all.first(where: { $0.id == central }) else {
            throw PeripheralError(code: .unknownCentral, message: "Central \(central) is not known.")
        }
        server.forget(known.linkAddress)
    }

    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try advertising.set(advertisements)
        let isAdvertising = !advertisements.isEmpty
        let state = PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: isAdvertising)
        host.handle(.stateChanged(state))
    }

    func stop() {
        stopped.finish()
    }
}

/// The numbers of the subscriptions to one peripheral.
private final class SubscriptionNumbers: Sendable {
    private struct Subscription: Hashable {
        var central: Central.ID
        var characteristic: AttributeHandle
    }

    private struct State {
        var numbers: [Subscription: UInt64] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Gives the next number to a subscription, which replaces the number of an earlier one.
    func begin(of central: Central.ID, for characteristic: AttributeHandle) {
        state.withLock { state in
            state.last += 1
            state.numbers[Subscription(central: central, characteristic: characteristic)] = state.last
        }
    }

    func number(of central: Central.ID, for characteristic: AttributeHandle) -> UInt64 {
        state.withLock { $0.numbers[Subscription(central: central, characteristic: characteristic)] ?? 0 }
    }
}

/// Forwards requests to the running peripheral.
private struct HostProvider: VirtualAttributeProvider {
    let host: any PeripheralHost
    let numbers: SubscriptionNumbers

    func read(_ request: BackendReadRequest) async -> Result<[UInt8], ATTError> {
        await outcome(of: host.read(request))
    }

    func write(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        var request = request
        request.expectsResponse = withResponse
        return await outcome(of: host.write(request)).map { _ in }
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
                kind: kind
            )
            host.handle(change.from == 0 ? .subscribed(subscription) : .subscriptionChanged(subscription))
        }
    }

    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central) {}
}

extension PeripheralHost {
    /// Reports a connection event as backend events.
    fileprivate func handle(_ event: ConnectionEvent) {
        switch event {
        case .connected(let central):
            handle(.connected(central))
        case .paired(let central, _):
            handle(.connected(central))
        case .disconnected(let central):
            handle(.disconnected(central.id))
        case .forgotten(let central):
            handle(.forgotten(Central.ID(address: central)))
        case .secured, .pairingFailed:
            break
        }
    }
}

extension BackendUpdate.Recipients {
    fileprivate func include(_ central: Central) -> Bool {
        switch self {
        case .subscribers: true
        case .central(let id): central.id == id
        }
    }
}

extension PeripheralError {
    fileprivate static let notSubscribed = PeripheralError(
        code: .notSubscribed,
        message: "The central has not subscribed to the characteristic."
    )

    fileprivate static let insecure = PeripheralError(
        code: .insufficientSecurity,
        message: "The link of a central does not have the security that the characteristic requires: "
            + "the central has reconnected and not yet encrypted it."
    )
}

extension BackendUpdateOutcome {
    fileprivate static func failed(code: PeripheralError.Code, _ message: String) -> Self {
        .failed(PeripheralError(code: code, message: message))
    }
}

extension AttributeTable {
    /// The security that the characteristic with this value handle requires of its subscribers' links.
    fileprivate func notifySecurity(of handle: AttributeHandle) -> SecurityLevel {
        self[handle].flatMap { characteristic(of: $0.kind) }?.security.notify ?? .open
    }

    /// The handles of the values whose writes the program has to authorize.
    fileprivate var handlesWithAuthorization: Set<AttributeHandle> {
        Set(
            attributes.filter { attribute in
                guard case .characteristicValue = attribute.kind else { return false }
                return characteristic(of: attribute.kind)?.requiresAuthorization ?? false
            }.map(\.handle)
        )
    }
}
