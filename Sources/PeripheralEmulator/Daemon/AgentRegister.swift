internal import PeripheralDBus
internal import Synchronization

/// The pairing agents that programs have registered; bluetoothd accepts them, and nobody ever pairs here.
final class AgentRegister: Sendable {
    private let agents = Mutex<Set<Client>>([])

    func remove(_ owner: BusName) {
        agents.withLock { agents in agents = agents.filter { $0.owner != owner } }
    }

    var interface: ExportedInterface {
        ExportedInterface(
            BlueZName.agentManager,
            methods: [
                method("RegisterAgent", "os") { agents, client in
                    agents.insert(client).inserted ? nil : .alreadyExists
                },
                method("UnregisterAgent", "o") { agents, client in
                    agents.remove(client) == nil ? .doesNotExist : nil
                },
                method("RequestDefaultAgent", "o") { agents, client in
                    agents.contains(client) ? nil : .doesNotExist
                },
            ]
        )
    }

    private func method(
        _ name: MemberName,
        _ input: Signature,
        _ change: @escaping @Sendable (inout Set<Client>, Client) -> MethodError?
    ) -> ExportedMethod {
        ExportedMethod(name, input, "") { [self] message, reply in
            guard let call = DaemonCall(message, reply.deferred()), let client = call.client else { return }
            if let error = agents.withLock({ change(&$0, client) }) {
                call.reply.fail(error)
            } else {
                call.reply.send()
            }
        }
    }
}
