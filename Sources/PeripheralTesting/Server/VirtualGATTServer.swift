package import PeripheralCore
package import PeripheralKit
internal import Synchronization

/// The half of a virtual Bluetooth host that centrals talk to: a GATT server as bluetoothd has it, and the
/// advertisements on the air.
///
/// Applications add their services with a ``VirtualAttributeProvider`` that serves them; several can, at run
/// time. Centrals connect with a ``VirtualLink``. The class owns no time: an operation takes as long as the
/// provider does.
package final class VirtualGATTServer: Sendable {
    struct State {
        var att: ATTServerState
        var providers: [ApplicationID: any VirtualAttributeProvider] = [:]
        var links: [ConnectionID: any VirtualLink] = [:]
        var air = VirtualAir()
        var observer: ConnectionObserver?
        /// The questions that providers have not answered yet.
        var inquiries: [Int: PendingInquiry] = [:]
        var lastNumber = 0

        mutating func makeNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    struct PendingInquiry {
        var connection: ConnectionID
        var application: ApplicationID
        var task: Task<Result<[UInt8], ATTError>, Never>
    }

    /// The address of the host.
    package let address: DeviceAddress

    /// Whether a connection stops all advertisements, until they are registered again or a connection ends.
    ///
    /// So it is with the extended advertising of Bluetooth 5 on BlueZ 5.66.
    package let connectionsInterruptAdvertising: Bool

    private let deviceName: String
    private let version: BlueZVersion
    let state: Mutex<State>

    /// Makes a host that serves nothing but the stack's own services.
    ///
    /// - Parameters:
    ///   - deviceName: The device name of the Generic Access service.
    ///   - version: The version of bluetoothd to behave as.
    ///   - address: The address of the host.
    ///   - connectionsInterruptAdvertising: Whether a connection stops all advertisements.
    package init(
        deviceName: String,
        version: BlueZVersion = .v5_66,
        address: DeviceAddress = .virtualHost,
        connectionsInterruptAdvertising: Bool = false
    ) {
        self.address = address
        self.deviceName = deviceName
        self.version = version
        self.connectionsInterruptAdvertising = connectionsInterruptAdvertising
        state = Mutex(State(att: ATTServerState(deviceName: deviceName, version: version)))
    }

    /// Begins anew, as a stack does that is restarted: with nobody connected, nothing on the air, and the handles
    /// of the stack's own services only.
    ///
    /// Providers are told that subscriptions end, and of nothing else.
    package func reset() {
        disconnectAll()
        let pending = state.withLock { state in
            state.att = ATTServerState(deviceName: deviceName, version: version)
            state.providers = [:]
            state.air.clear()
            return state.inquiries.values.map(\.task)
        }
        for task in pending {
            task.cancel()
        }
    }

    // MARK: Applications

    /// Adds the services of an application behind all handles that were ever given.
    ///
    /// Centrals that have subscribed to Service Changed are told.
    ///
    /// - Throws: `AttributeTableError` when the handles are used up.
    package func add(
        _ table: AttributeTable,
        servedBy provider: any VirtualAttributeProvider
    ) throws(AttributeTableError) -> ApplicationID {
        let id = ApplicationID(number: state.withLock { $0.makeNumber() })
        try state.withLock { state throws(AttributeTableError) in
            let handles = try state.att.add(table, of: id)
            state.providers[id] = provider
            state.deliver(handles.flatMap { state.att.serviceChanges(of: $0) })
        }
        return id
    }

    /// Removes an application and its services.
    ///
    /// Its handles are invalid at once. Subscriptions end without the provider being told. The call returns
    /// when the provider has answered all that it has been asked; when the calling task is cancelled, so are
    /// those questions.
    package func remove(_ application: ApplicationID) async {
        let pending = removeAtOnce(application)
        await withTaskCancellationHandler {
            for task in pending {
                _ = await task.value
            }
        } onCancel: {
            for task in pending {
                task.cancel()
            }
        }
    }

    /// Removes an application as ``remove(_:)`` does, without waiting for what it has been asked.
    ///
    /// - Returns: The questions that it has not answered yet.
    @discardableResult
    package func removeAtOnce(_ application: ApplicationID) -> [Task<Result<[UInt8], ATTError>, Never>] {
        state.withLock { state in
            let removed = state.att.remove(application)
            state.providers[application] = nil
            state.deliver(removed.flatMap { state.att.serviceChanges(of: $0) })
            return state.inquiries.values.filter { $0.application == application }.map(\.task)
        }
    }

    /// Sends a new value of an application's characteristic to all centrals that have subscribed.
    ///
    /// - Parameters:
    ///   - value: The value; cut to what the central's MTU, and any attribute, can hold.
    ///   - characteristic: The value handle in the application's own table.
    ///   - application: The application.
    /// - Returns: Whether the application is still there.
    @discardableResult
    package func send(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        in application: ApplicationID
    ) -> Bool {
        let (provider, indicated) = state.withLock { state in
            let deliveries = state.att.deliveries(of: value, of: characteristic, in: application)
            state.deliver(deliveries)
            return (
                state.providers[application],
                deliveries.filter { $0.update.kind == .indication }.map(\.central)
            )
        }
        // A link confirms an indication by taking it.
        for central in indicated {
            provider?.indicationConfirmed(characteristic, by: central)
        }
        return provider != nil
    }

    /// The handles on the air of an application's services, in their order.
    package func serviceHandles(of application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        state.withLock { $0.att.database.serviceHandles(of: application) }
    }

    // MARK: Connections

    /// Told that a central has connected or disconnected.
    ///
    /// Called with the server's lock held, so that all happens in its order: it must be quick, and must not call
    /// the server.
    package typealias ConnectionObserver = @Sendable (_ central: Central, _ isConnected: Bool) -> Void

    /// Has an observer told of connections, in place of the one before.
    package func observeConnections(_ observer: ConnectionObserver?) {
        state.withLock { $0.observer = observer }
    }

    /// The MTUs that bluetoothd agrees on.
    package static let mtus = 23...517

    /// An address that no other central of this server has.
    package func makeCentralAddress() -> DeviceAddress {
        .virtualCentral(number: state.withLock { $0.makeNumber() })
    }

    /// Connects a central, when there is a connectable advertisement on the air.
    ///
    /// - Throws: ``TestCentralError`` with the code `notFound`.
    package func connect(
        _ central: Central,
        security: SecurityLevel = .open,
        over link: any VirtualLink
    ) throws(TestCentralError) -> ConnectionID {
        try state.withLock { state throws(TestCentralError) in
            guard state.air.isConnectable else {
                throw TestCentralError(code: .notFound, message: "Nothing connectable is on the air.")
            }
            let id = ConnectionID(number: state.makeNumber())
            state.att.open(id, central: central, security: security)
            state.links[id] = link
            if connectionsInterruptAdvertising { state.air.interrupt() }
            state.observer?(central, true)
            return id
        }
    }

    /// Ends a connection, with its subscriptions, prepared writes and requests in progress.
    package func disconnect(_ connection: ConnectionID) {
        let pending = changeAir { state in
            let central = state.att.connections[connection]?.central
            for (application, change) in state.att.close(connection) {
                state.providers[application]?.subscriptionChanged(change)
            }
            state.links.removeValue(forKey: connection)?.disconnected()
            state.air.resume()
            if let central { state.observer?(central, false) }
            return state.inquiries.values.filter { $0.connection == connection }.map(\.task)
        }
        for task in pending {
            task.cancel()
        }
    }

    /// Ends the connection of a central, when it has one.
    package func disconnect(_ central: DeviceAddress) {
        let connection = state.withLock { state in
            state.att.connections.first { $0.value.central.address == central }?.key
        }
        if let connection { disconnect(connection) }
    }

    /// Ends all connections, as an adapter that is powered off does.
    package func disconnectAll() {
        for connection in state.withLock({ $0.att.connections.keys.sorted() }) {
            disconnect(connection)
        }
    }

    /// The centrals that are connected.
    package var centrals: [Central] {
        state.withLock { state in
            state.att.connections.sorted { $0.key < $1.key }.map(\.value.central)
        }
    }

    // MARK: Requests

    /// The services in the order of their handles.
    package func discover(on connection: ConnectionID) throws(TestCentralError) -> DiscoveredDatabase {
        try state.withLock { state throws(TestCentralError) in
            guard state.links[connection] != nil else { throw .connectionEnded }
            return state.att.database.discovered
        }
    }

    /// Answers a Read or a Read Blob Request.
    package func read(
        _ handle: AttributeHandle,
        offset: Int,
        on connection: ConnectionID
    ) async throws(TestCentralError) -> Result<[UInt8], ATTError> {
        let (result, mtu) = try await perform(on: connection) {
            $0.read(handle, offset: offset, by: connection)
        }
        return result.map { Array($0.prefix(min(mtu - 1, maximumLength))) }
    }

    /// Answers a Write Request, or carries out a Write Command, whose outcome the central does not learn.
    package func write(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        on connection: ConnectionID
    ) async throws(TestCentralError) -> Result<Void, ATTError> {
        try await perform(on: connection) { $0.write(handle, value, by: connection) }.result.map { _ in }
    }

    /// Answers a Prepare Write Request.
    package func prepareWrite(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        offset: Int,
        on connection: ConnectionID
    ) throws(TestCentralError) -> Result<Void, ATTError> {
        try state.withLock { state throws(TestCentralError) in
            guard state.links[connection] != nil else { throw .connectionEnded }
            return state.att.prepareWrite(handle, value, at: offset, by: connection)
        }
    }

    /// Answers an Execute Write Request.
    package func executeWrites(
        commit: Bool,
        on connection: ConnectionID
    ) async throws(TestCentralError) -> Result<Void, ATTError> {
        let decisions = try state.withLock { state throws(TestCentralError) in
            guard state.links[connection] != nil else { throw .connectionEnded }
            return state.att.executeWrites(commit: commit, by: connection)
        }
        switch decisions {
        case .failure(let refusal):
            return .failure(refusal)
        case .success(let decisions):
            for decision in decisions {
                let (result, _) = try await perform(on: connection) { _ in decision }
                if case .failure(let refusal) = result { return .failure(refusal) }
            }
            return .success(())
        }
    }

    /// Carries out what the state decides, and asks the application where it has to answer.
    private func perform(
        on connection: ConnectionID,
        _ decide: (inout ATTServerState) -> ATTServerState.Decision
    ) async throws(TestCentralError) -> (result: Result<[UInt8], ATTError>, mtu: Int) {
        enum Step {
            case answer(Result<[UInt8], ATTError>)
            case await(Int, Task<Result<[UInt8], ATTError>, Never>)
        }
        let (step, mtu) = try state.withLock { state throws(TestCentralError) -> (Step, Int) in
            guard let mtu = state.att.connections[connection]?.central.mtu else { throw .connectionEnded }
            switch decide(&state.att) {
            case .answer(let result):
                return (.answer(result), mtu)
            case .subscription(let application, let change):
                state.providers[application]?.subscriptionChanged(change)
                return (.answer(.success([])), mtu)
            case .ask(let inquiry):
                guard let provider = state.providers[inquiry.application] else {
                    return (.answer(.failure(.unlikelyError)), mtu)
                }
                let number = state.makeNumber()
                let task = Task { await inquiry.answer(by: provider) }
                state.inquiries[number] = PendingInquiry(
                    connection: connection,
                    application: inquiry.application,
                    task: task
                )
                return (.await(number, task), mtu)
            }
        }
        switch step {
        case .answer(let result):
            return (result, mtu)
        case .await(let number, let task):
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            try state.withLock { state throws(TestCentralError) in
                state.inquiries[number] = nil
                guard state.links[connection] != nil else { throw .connectionEnded }
            }
            return (result, mtu)
        }
    }
}

extension VirtualGATTServer.State {
    /// Hands updates to the links; with the lock held, so that they arrive in their order.
    fileprivate func deliver(_ deliveries: [ATTServerState.Delivery]) {
        for delivery in deliveries {
            links[delivery.connection]?.received(delivery.update, of: delivery.handle)
        }
    }
}

extension ATTServerState.Inquiry {
    fileprivate func answer(by provider: any VirtualAttributeProvider) async -> Result<[UInt8], ATTError> {
        switch operation {
        case .read(let request):
            return await provider.read(request)
        case .write(let request, let withResponse):
            let result = await provider.write(request, withResponse: withResponse)
            return withResponse ? result.map { [] } : .success([])
        }
    }
}

extension TestCentralError {
    static var connectionEnded: TestCentralError {
        TestCentralError(code: .disconnected, message: "The connection has ended.")
    }
}
