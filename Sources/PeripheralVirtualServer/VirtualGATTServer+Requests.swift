package import PeripheralCore
internal import PeripheralKit
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
        try await perform(on: connection) { $0.write(handle, value, by: connection) }.result.map { _ in }
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
