internal import PeripheralDBus
internal import PeripheralTesting
internal import Synchronization

/// The pairing agents of the programs, with one agent for each program.
///
/// bluetoothd asks the agent that became the default last. Without such an agent, bluetoothd asks the agent
/// that was registered first (BlueZ, agent.c).
final class AgentRegister: Sendable {
    private struct State {
        /// The agents; bluetoothd asks the first agent.
        var agents: [RemoteAgent] = []
        var observer: (@Sendable (RemoteAgent?) -> Void)?
    }

    private let state = Mutex(State())
    private let connection: BusConnection

    init(_ connection: BusConnection) {
        self.connection = connection
    }

    /// Sets the observer of changes of the current agent.
    func observe(_ observer: @escaping @Sendable (RemoteAgent?) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// The agent that bluetoothd asks.
    var current: RemoteAgent? { state.withLock { $0.agents.first } }

    /// Removes the agent of a program that has left the bus.
    func remove(_ owner: BusName) {
        _ = change { agents in
            agents.first { $0.client.owner == owner }?.abandon()
            agents.removeAll { $0.client.owner == owner }
            return nil
        }
    }

    /// Informs all agents that bluetoothd ends, and removes all agents.
    func release() {
        let agents = state.withLock { state in
            defer { state.agents = [] }
            return state.agents
        }
        for agent in agents { agent.release() }
    }

    private func change(_ body: (inout [RemoteAgent]) -> MethodError?) -> MethodError? {
        let (error, observer, current) = state.withLock { state in
            let former = state.agents.first
            let error = body(&state.agents)
            let observer = state.agents.first === former ? nil : state.observer
            return (error, observer, state.agents.first)
        }
        observer?(current)
        return error
    }
}

// MARK: - On the bus

extension AgentRegister {
    var interface: ExportedInterface {
        ExportedInterface(
            BlueZName.agentManager,
            methods: [
                method("RegisterAgent", "os") { [connection] agents, client, call in
                    guard !agents.contains(where: { $0.client.owner == client.owner }) else {
                        return .alreadyExists
                    }
                    let text = call.arguments.count > 1 ? call.arguments[1].string : nil
                    guard let capability = text.flatMap(PairingUser.Capability.init(bluez:)) else {
                        return .invalidArguments
                    }
                    agents.append(RemoteAgent(client, capability: capability, connection: connection))
                    return nil
                },
                method("UnregisterAgent", "o") { agents, client, _ in
                    guard let index = agents.firstIndex(where: { $0.client == client }) else {
                        return .doesNotExist
                    }
                    agents.remove(at: index).abandon()
                    return nil
                },
                method("RequestDefaultAgent", "o") { agents, client, _ in
                    guard let index = agents.firstIndex(where: { $0.client == client }) else {
                        return .doesNotExist
                    }
                    agents.insert(agents.remove(at: index), at: 0)
                    return nil
                },
            ]
        )
    }

    private func method(
        _ name: MemberName,
        _ input: Signature,
        _ body: @escaping @Sendable (inout [RemoteAgent], Client, DaemonCall) -> MethodError?
    ) -> ExportedMethod {
        ExportedMethod(name, input, "") { [self] message, reply in
            guard let call = DaemonCall(message, reply.deferred()), let client = call.client else { return }
            if let error = change({ body(&$0, client, call) }) {
                call.reply.fail(error)
            } else {
                call.reply.send()
            }
        }
    }
}

extension PairingUser.Capability {
    /// - Returns: `nil` for a text that bluetoothd does not know.
    fileprivate init?(bluez text: String) {
        switch text {
        case "DisplayOnly": self = .displayOnly
        case "DisplayYesNo": self = .displayYesNo
        case "KeyboardOnly": self = .keyboardOnly
        case "NoInputNoOutput": self = .noInputNoOutput
        case "KeyboardDisplay", "": self = .keyboardDisplay
        default: return nil
        }
    }
}
