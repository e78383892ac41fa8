internal import Logging
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// Makes this program's agent the only one that bluetoothd asks while centrals pair.
///
/// This also applies to a peripheral that does not let centrals pair. If this agent were not registered,
/// bluetoothd would ask the agent of another program, such as a desktop's. The other agent does not know the
/// declaration.
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

    /// Registers the agent and, if centrals may pair, makes the adapter pairable.
    ///
    /// - Throws: `BusError`; ``withdraw(from:)`` then reverts the changes.
    func register(on adapter: ObjectPath) async throws(BusError) {
        guard let capability = method.capability else { return }
        agent.open(for: adapter)
        guard method != .none else { return await keepOut(as: capability) }
        if method.displaysPasskeys { try await watchDevices(of: adapter) }
        try await register(as: capability)
        try await makePairable(adapter)
    }

    /// Registers the agent that refuses to pair, and continues if bluetoothd does not accept it.
    ///
    /// A peripheral that requires no security does not depend on this agent.
    private func keepOut(as capability: String) async {
        do {
            try await register(as: capability)
        } catch {
            log.report(
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

    /// Refuses the pending requests, and restores the adapter.
    func withdraw(from adapter: ObjectPath) async throws(BusError) {
        // The agent is closed first. bluetoothd ignores the answers of a withdrawn agent, and the centrals
        // would wait.
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
    /// Makes the adapter pairable.
    ///
    /// An adapter that is not pairable refuses bonds, regardless of the agent's answer. Initially, adapters
    /// are not pairable.
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

    /// Notifies the agent when a device no longer needs its passkey.
    private func watchDevices(of adapter: ObjectPath) async throws(BusError) {
        let changes = MatchRule(
            sender: BlueZ.name,
            pathNamespace: adapter,
            interface: .properties,
            member: "PropertiesChanged",
            firstArgument: BlueZ.device.text
        )
        try await connection.subscribe(to: changes) { [agent] signal in
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
    /// The input and output capability that bluetoothd reports to centrals; `nil` for no agent.
    ///
    /// See BlueZ, doc/org.bluez.AgentManager.rst.
    fileprivate var capability: String? {
        switch self {
        // With this capability, bluetoothd asks before each pairing, and waits for the answer. With
        // `NoInputNoOutput`, a kernel before 5.8 pairs without asking.
        case .none: "KeyboardOnly"
        case .justWorks: "NoInputNoOutput"
        case .displayPasskey: "DisplayOnly"
        case .enterPasskey: "KeyboardOnly"
        case .confirmNumber, .displayPasskeyOrConfirmNumber: "DisplayYesNo"
        case .enterOrDisplayPasskeyOrConfirmNumber: "KeyboardDisplay"
        case .system: nil
        }
    }

    /// Whether the program can display a passkey, and therefore needs to know when the pairing ends.
    fileprivate var displaysPasskeys: Bool {
        switch self {
        case .displayPasskey, .displayPasskeyOrConfirmNumber, .enterOrDisplayPasskeyOrConfirmNumber: true
        case .none, .justWorks, .enterPasskey, .confirmNumber, .system: false
        }
    }
}
