package import PeripheralCore
package import PeripheralKit
internal import Synchronization

extension VirtualGATTServer {
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

    /// Answers a Write Request or handles a Write Command, whose outcome the central does not learn.
    package func write(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        on connection: ConnectionID
    ) async throws(TestCentralError) -> Result<Void, ATTError> {
        let (result, _) = try await perform(on: connection) { $0.write(handle, value, by: connection) }
        if case .failure(.invalidAttributeValueLength) = result {
            reportRefusal(of: value.count, for: handle, isPrepared: false, on: connection)
        }
        return result.map { _ in }
    }

    /// Reports that a value is refused because of its length.
    private func reportRefusal(
        of length: Int,
        for handle: AttributeHandle,
        isPrepared: Bool,
        on connection: ConnectionID
    ) {
        state.withLock { state in
            let maximum = state.att.maximumWrittenLength(isPrepared: isPrepared)
            guard length > maximum, let central = state.att.connections[connection]?.central else { return }
            let refusal = RefusedLength(
                central: central,
                attribute: state.att.database.name(of: handle),
                length: length,
                isWhole: !isPrepared,
                maximum: maximum
            )
            state.report(.refusedLength(refusal))
        }
    }

    /// Answers a Prepare Write Request.
    package func prepareWrite(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        offset: Int,
        on connection: ConnectionID
    ) async throws(TestCentralError) -> Result<Void, ATTError> {
        let (result, _) = try await perform(on: connection) {
            $0.prepareWrite(handle, value, at: offset, by: connection)
        }
        if case .failure(.invalidAttributeValueLength) = result {
            reportRefusal(of: offset + value.count, for: handle, isPrepared: true, on: connection)
        }
        if case .success = result {
            state.withLock { $0.att.keep(value, of: handle, at: offset, by: connection) }
        }
        return result.map { _ in }
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

    /// Carries out a decision of the state, and asks the application if necessary.
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

extension ATTServerState.Inquiry {
    fileprivate func answer(by provider: any VirtualAttributeProvider) async -> Result<[UInt8], ATTError> {
        switch operation {
        case .read(let request):
            return await provider.read(request)
        case .write(let request, let withResponse):
            let result = await provider.write(request, withResponse: withResponse)
            return withResponse ? result.map { [] } : .success([])
        case .authorization(let request, let withResponse):
            let result = await provider.authorizeWrite(request, withResponse: withResponse)
            return withResponse ? result.map { [] } : .success([])
        }
    }
}

// MARK: - Updates

extension VirtualGATTServer {
    /// The time that a central has to confirm an indication (Core Specification, Vol 3, Part F, 3.3.3).
    static let confirmationLimit: Duration = .seconds(30)

    /// Sends a new value of an application's characteristic to all subscribers.
    ///
    /// - Parameters:
    ///   - value: The value; cut to the central's MTU and to the largest attribute size.
    ///   - characteristic: The value handle in the application's own table.
    ///   - application: The application; confirmations are reported to its provider.
    /// - Returns: Whether the application still exists.
    @discardableResult
    package func send(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        in application: ApplicationID
    ) -> Bool {
        deliver(value, of: characteristic, in: application, to: { _ in true }) != nil
    }

    /// Sends a new value of an application's characteristic to some of the subscribers.
    ///
    /// Notifications are sent at once. Indications wait until the central has confirmed its previous ones.
    ///
    /// - Parameters:
    ///   - value: The value; cut to the central's MTU and to the largest attribute size.
    ///   - characteristic: The value handle in the application's own table.
    ///   - application: The application.
    ///   - isRecipient: Returns whether a subscriber receives the value; called once for each subscriber. It
    ///     has to check the security of the link: the server checked it only when the central subscribed,
    ///     perhaps in another connection.
    ///   - completion: Called with the outcome, once for each recipient, instead of the application's
    ///     provider. The server calls it with its lock held: it must be quick and must not call the server.
    /// - Returns: The recipients; `nil` when the application no longer exists.
    @discardableResult
    package func deliver(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        in application: ApplicationID,
        to isRecipient: (VirtualSubscriber) -> Bool,
        completion: (@Sendable (Central, VirtualUpdateOutcome) -> Void)? = nil
    ) -> [Central]? {
        state.withLock { state in
            guard let provider = state.providers[application],
                let handle = state.att.database.handle(of: characteristic, in: application)
            else { return nil }
            let deliveries = state.att.deliveries(of: value, at: handle).filter {
                isRecipient(
                    VirtualSubscriber(central: $0.central, kind: $0.update.kind, security: $0.security)
                )
            }
            deliver(deliveries, &state) { central, outcome in
                if let completion {
                    completion(central, outcome)
                } else if outcome == .confirmed {
                    provider.indicationConfirmed(characteristic, by: central)
                }
            }
            return deliveries.map(\.central)
        }
    }

    /// Sends a new value of an application's characteristic to one central.
    ///
    /// - Parameters:
    ///   - value: The value; cut to the central's MTU and to the largest attribute size.
    ///   - characteristic: The value handle in the application's own table.
    ///   - application: The application.
    ///   - recipient: The central.
    /// - Returns: The outcome of the update; `nil` when the central has not subscribed.
    package func send(
        _ value: [UInt8],
        of characteristic: AttributeHandle,
        in application: ApplicationID,
        to recipient: DeviceAddress
    ) async -> VirtualUpdateOutcome? {
        await withCheckedContinuation { continuation in
            let recipients = deliver(
                value,
                of: characteristic,
                in: application,
                to: { $0.central.linkAddress == recipient },
                completion: { _, outcome in continuation.resume(returning: outcome) }
            )
            if recipients?.isEmpty ?? true { continuation.resume(returning: nil) }
        }
    }

    /// Confirms the indication that the central has received; has no effect when there is none.
    package func confirmIndication(on connection: ConnectionID) {
        state.withLock { state in
            guard let entry = state.indications[connection]?.takeOutstanding() else { return }
            entry.completion(.confirmed)
            sendIndications(on: connection, &state)
        }
    }

    /// Passes updates to the links with the lock held, so that they arrive in order.
    func deliver(
        _ deliveries: [ATTServerState.Delivery],
        _ state: inout State,
        completion: @escaping @Sendable (Central, VirtualUpdateOutcome) -> Void = { _, _ in }
    ) {
        for delivery in deliveries {
            switch delivery.update.kind {
            case .notification:
                _ = state.links[delivery.connection]?.received(delivery.update, of: delivery.handle)
                completion(delivery.central, .sent)
            case .indication:
                let entry = IndicationQueue.Entry(
                    delivery: delivery,
                    completion: { completion(delivery.central, $0) },
                    number: state.makeNumber()
                )
                state.indications[delivery.connection, default: IndicationQueue()].append(entry)
                sendIndications(on: delivery.connection, &state)
            }
        }
    }

    private func sendIndications(on connection: ConnectionID, _ state: inout State) {
        while let entry = state.indications[connection]?.takeNext() {
            let isConfirmed =
                state.links[connection]?.received(entry.delivery.update, of: entry.delivery.handle) ?? false
            guard !isConfirmed else {
                entry.completion(.confirmed)
                continue
            }
            state.indications[connection]?.wait(for: entry, timer: makeTimer(for: entry))
            return
        }
    }

    private func makeTimer(for entry: IndicationQueue.Entry) -> Task<Void, Never> {
        Task { [clock, weak self] in
            do {
                try await clock.sleep(for: Self.confirmationLimit)
            } catch {
                return
            }
            self?.giveUp(on: entry)
        }
    }

    private func giveUp(on entry: IndicationQueue.Entry) {
        let connection = entry.delivery.connection
        let isLate = state.withLock { state in
            guard state.indications[connection]?.outstanding?.number == entry.number else { return false }
            state.indications[connection]?.takeOutstanding()?.completion(.timedOut)
            return true
        }
        if isLate { disconnect(connection) }
    }
}
