internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The updates that still wait for confirmations.
private final class AwaitedUpdates: Sendable {
    private struct State {
        var updates: [BackendUpdate.ID: BackendUpdate] = [:]
        /// The calls that wait until some updates have ended.
        var waiters: [(updates: Set<BackendUpdate.ID>, done: AsyncStream<Never>.Continuation)] = []
    }

    private let state = Mutex(State())

    func insert(_ update: BackendUpdate) {
        state.withLock { $0.updates[update.id] = update }
    }

    func remove(_ update: BackendUpdate.ID) -> Bool {
        let (known, done) = state.withLock { state in
            let known = state.updates.removeValue(forKey: update) != nil
            for index in state.waiters.indices { state.waiters[index].updates.remove(update) }
            let done = state.waiters.filter(\.updates.isEmpty).map(\.done)
            state.waiters.removeAll { $0.updates.isEmpty }
            return (known, done)
        }
        for done in done { done.finish() }
        return known
    }

    /// The updates of some characteristics.
    func updates(of characteristics: ClosedRange<AttributeHandle>) -> [BackendUpdate] {
        state.withLock { $0.updates.values.filter { characteristics.contains($0.characteristic) } }
    }

    /// Waits until all updates of some characteristics have ended, or until the limit.
    func untilEnded(of characteristics: ClosedRange<AttributeHandle>, within limit: Duration) async {
        let (stream, done) = AsyncStream.makeStream(of: Never.self)
        state.withLock { state in
            let updates = state.updates.values.filter { characteristics.contains($0.characteristic) }
            if updates.isEmpty { done.finish() } else { state.waiters.append((Set(updates.map(\.id)), done)) }
        }
        await withTaskGroup { group in
            group.addTask { for await _ in stream {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The interface that the stack in memory provides to the running peripheral.
struct InMemoryLink: BackendLink {
    /// An operation on an update.
    enum Order {
        case send(BackendUpdate)
        case giveUp(BackendUpdate.ID)
    }

    let stack: InMemoryStack
    let publication: BackendPublication
    let server: VirtualGATTServer
    let services: InMemoryServices
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
        guard let (application, table) = services.application(of: update.characteristic) else {
            return end(update, .failed(.notSubscribed))
        }
        let level = table.notifySecurity(of: update.characteristic)
        guard canReach(update.requiredRecipients, by: update, of: application, at: level) else {
            return end(update, .failed(.insecure))
        }
        guard canAddress(update, of: application) else {
            return end(update, .failed(.notAddressable(on: stack)))
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
            awaited.insert(update)
            if isWithheld, update.isForAllSubscribers { confirmations.fail(.insecure) }
            confirmations.expect(recipients.count)
        } else {
            end(update, .completed)
        }
    }

    /// Whether the stack can send an indication to its central without the other subscribers.
    private func canAddress(_ update: BackendUpdate, of application: ApplicationID) -> Bool {
        guard case .central(let central) = update.recipients, update.awaitsConfirmation,
            !stack.canAddress(.indication)
        else { return true }
        var isOnly = true
        server.deliver(update.value, of: update.characteristic, in: application) { subscriber in
            if subscriber.central.id != central { isOnly = false }
            return false
        }
        return isOnly
    }

    /// Whether the update can be sent to all of these centrals.
    private func canReach(
        _ centrals: Set<Central.ID>,
        by update: BackendUpdate,
        of application: ApplicationID,
        at level: SecurityLevel
    ) -> Bool {
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

    func prefer(
        _ preference: ConnectionPreference,
        for central: Central.ID
    ) async throws -> ConnectionParameters {
        guard let parameters = try server.prefer(preference.units(), for: central) else {
            throw PeripheralError(
                code: .rejected,
                message: "Central \(central) refuses the connection parameters."
            )
        }
        return parameters
    }

    func signalStrength(of central: Central.ID) async throws -> Int {
        try server.signalStrength(of: central)
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

    func pairingAllowanceChanged() async throws {
        server.isPairable = host.allowsPairing
    }

    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try advertising.set(advertisements)
        let isAdvertising = !advertisements.isEmpty
        let state = PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: isAdvertising)
        host.handle(.stateChanged(state))
    }

    func add(_ added: BackendServices) async throws {
        try stack.examine(publication.with(added))
        do {
            try services.add(added)
        } catch {
            throw PeripheralError.refused(error)
        }
        services.reportHandles(to: host)
    }

    func examine(_ added: BackendServices) throws {
        try stack.examine(publication.with(added))
        do {
            try services.examine(added)
        } catch {
            throw PeripheralError.refused(error)
        }
    }

    func remove(_ removed: [AttributeHandle]) async throws {
        for service in removed {
            guard let handles = services.handles(of: service) else { continue }
            await awaited.untilEnded(of: handles, within: BackendServices.confirmationLimit)
            let late = awaited.updates(of: handles)
            for central in server.centrals where late.contains(where: { $0.recipients.include(central) }) {
                server.disconnect(central.linkAddress)
            }
            for update in late {
                endAwaited(update.id, .failed(code: .disconnected, "The central has not confirmed in time."))
            }
            services.remove(service)
        }
    }

    func stop() {
        stopped.finish()
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

    fileprivate static func notAddressable(on stack: InMemoryStack) -> PeripheralError {
        PeripheralError(
            code: .notAddressable,
            message: "\(stack) cannot send the indication to one of several subscribers. "
                + "Send the indication to all subscribers instead. BlueZ can do so from version 5.80."
        )
    }

    fileprivate static func refused(_ error: AttributeTableError) -> PeripheralError {
        PeripheralError(
            code: .rejected,
            message: "The in-memory stack refuses the services: \(error)",
            cause: error
        )
    }

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
}
