internal import Logging
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// Makes bluetoothd ask our agent, and nobody else, while centrals pair.
///
/// That holds for a peripheral with which nobody may pair, too: else bluetoothd would ask the agent of another
/// program, such as a desktop's, which knows nothing of the declaration.
final class AgentRegistration: Sendable {
    private struct State {
        var isRegistered = false
        var hasMadePairable = false
    }

    private static let manager: ObjectPath = "/org/bluez"

    private let agent: PairingAgent
    private let method: PairingMethod
    private let connection: BusConnection
    private let log: RunLog
    private let state = Mutex(State())

    init(of agent: PairingAgent, as method: PairingMethod, on connection: BusConnection, log: RunLog) {
        self.agent = agent
        self.method = method
        self.connection = connection
        self.log = log
    }

    /// Registers the agent and, where centrals may pair, has the adapter bond.
    ///
    /// - Throws: `BusError`; ``withdraw(from:)`` then takes back what was done.
    func register(on adapter: ObjectPath) async throws(BusError) {
        guard let capability = method.capability else { return }
        agent.open(for: adapter)
        guard method != .none else { return await keepOut(as: capability) }
        if method == .displayPasskey { try await watchDevices(of: adapter) }
        try await register(as: capability)
        try await makePairable(adapter)
    }

    /// Registers the agent that refuses; what has nothing to secure can do without it.
    private func keepOut(as capability: String) async {
        do {
            try await register(as: capability)
        } catch {
            log.tell(
                .refusedAgent,
                .warning,
                "bluetoothd did not accept the agent that refuses pairing. Another program may let centrals pair.",
                metadata: ["peripheral.reason": "\(error)"]
            )
        }
    }

    private func register(as capability: String) async throws(BusError) {
        try await call("RegisterAgent", [.objectPath(PairingAgent.path), .string(capability)])
        state.withLock { $0.isRegistered = true }
        try await call("RequestDefaultAgent", [.objectPath(PairingAgent.path)])
    }

    /// Refuses what is still open, and leaves the adapter as it was.
    func withdraw(from adapter: ObjectPath) async throws(BusError) {
        // bluetoothd would not heed the answers of an agent that is withdrawn, and leave the centrals waiting.
        await agent.close()
        let (isRegistered, hasMadePairable) = state.withLock { state in
            defer { state = State() }
            return (state.isRegistered, state.hasMadePairable)
        }
        if hasMadePairable { try await setPairable(false, adapter) }
        if isRegistered { try await call("UnregisterAgent", [.objectPath(PairingAgent.path)]) }
    }

    private func call(_ method: MemberName, _ arguments: [BusValue]) async throws(BusError) {
        _ = try await connection.call(
            BlueZ.name,
            Self.manager,
            BlueZ.agentManager,
            method,
            arguments,
            timeout: .seconds(method == "UnregisterAgent" ? 2 : 25)
        )
    }
}

// MARK: - The adapter

extension AgentRegistration {
    /// Bonds are refused by an adapter that is not pairable, as it is at first, whatever the agent says.
    private func makePairable(_ adapter: ObjectPath) async throws(BusError) {
        let answer = try await connection.call(
            BlueZ.name,
            adapter,
            .properties,
            "Get",
            [.string(BlueZ.adapter.text), .string("Pairable")]
        )
        guard answer.first?.bool != true else { return }
        state.withLock { $0.hasMadePairable = true }
        try await setPairable(true, adapter)
    }

    private func setPairable(_ isPairable: Bool, _ adapter: ObjectPath) async throws(BusError) {
        _ = try await connection.call(
            BlueZ.name,
            adapter,
            .properties,
            "Set",
            [.string(BlueZ.adapter.text), .string("Pairable"), .variant(.bool(isPairable))],
            timeout: .seconds(2)
        )
    }

    /// Has the agent told when a device needs its passkey no longer.
    private func watchDevices(of adapter: ObjectPath) async throws(BusError) {
        let changes = MatchRule(
            sender: BlueZ.name,
            pathNamespace: adapter,
            interface: .properties,
            member: "PropertiesChanged",
            firstArgument: BlueZ.device.text
        )
        _ = try await connection.subscribe(to: changes) { [agent] signal in
            var arguments = signal.arguments
            arguments.skip()
            var isOver = false
            try? arguments.readProperties { (key, value) throws(BusError) in
                if key == "Paired" { isOver = try value.readBool() || isOver }
                if key == "Connected" { isOver = try !value.readBool() || isOver }
            }
            if isOver, let device = try? ObjectPath(signal.path.string) { agent.endDisplay(for: device) }
        }
    }
}

extension PairingMethod {
    /// What bluetoothd tells centrals of the device (BlueZ, doc/org.bluez.AgentManager.rst); `nil` for no agent.
    fileprivate var capability: String? {
        switch self {
        // With it, bluetoothd asks before whatever it pairs, and awaits the answer. As one that has nothing, a kernel
        // before 5.8 pairs without asking.
        case .none: "KeyboardOnly"
        case .justWorks: "NoInputNoOutput"
        case .displayPasskey: "DisplayOnly"
        case .enterPasskey: "KeyboardOnly"
        case .confirmNumber: "DisplayYesNo"
        case .system: nil
        }
    }
}
