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
        /// Whether the adapter was pairable before the registration; `nil` if this is not known.
        var wasPairable: Bool?
        /// The last value that this program has set; `nil` if it has set none.
        var setPairable: Bool?
    }

    private static let manager: ObjectPath = "/org/bluez"

    private let agent: PairingAgent
    private let method: PairingMethod
    private let connection: BusConnection
    private let log: RunLog
    private let allowsPairing: @Sendable () -> Bool
    private let state = Mutex(State())

    init(
        of agent: PairingAgent,
        as method: PairingMethod,
        on connection: BusConnection,
        log: RunLog,
        allowsPairing: @escaping @Sendable () -> Bool
    ) {
        self.allowsPairing = allowsPairing
        self.agent = agent
        self.method = method
        self.connection = connection
        self.log = log
    }

    /// Registers the agent, and makes the adapter pairable if centrals may pair.
    ///
    /// - Throws: `BusError`; ``withdraw(from:)`` then reverts the changes.
    func register(on adapter: ObjectPath) async throws(BusError) {
        guard let capability = method.capability else { return }
        agent.open(for: adapter)
        guard method != .none else { return await keepOut(as: capability, adapter) }
        if method.displaysPasskeys { try await watchDevices(of: adapter) }
        try await register(as: capability, on: adapter)
        try await pairingAllowanceChanged(on: adapter)
    }

    /// Registers the agent that refuses to pair, and continues if bluetoothd does not accept it.
    ///
    /// A peripheral that requires no security does not depend on this agent.
    private func keepOut(as capability: String, _ adapter: ObjectPath) async {
        do {
            try await register(as: capability, on: adapter)
            try await pairingAllowanceChanged(on: adapter)
        } catch {
            log.report(
                .refusedAgent,
                .warning,
                "bluetoothd did not accept the agent that refuses pairing. Another program may let centrals pair.",
                metadata: ["peripheral.reason": "\(error)"]
            )
        }
    }

    private func register(as capability: String, on adapter: ObjectPath) async throws(BusError) {
        let wasPairable = try await isPairable(adapter)
        state.withLock { $0.wasPairable = wasPairable }
        try await call("RegisterAgent", [.objectPath(PairingAgent.path), .string(capability)])
        state.withLock { $0.isRegistered = true }
        try await call("RequestDefaultAgent", [.objectPath(PairingAgent.path)])
    }

    /// Refuses the pending requests, and restores the adapter.
    func withdraw(from adapter: ObjectPath) async throws(BusError) {
        // The agent is closed first. bluetoothd ignores the answers of a withdrawn agent, and the centrals
        // would wait.
        await agent.close()
        let former = state.withLock { state in
            defer { state = State() }
            return state
        }
        if let wasPairable = former.wasPairable, let set = former.setPairable, set != wasPairable {
            try await setPairable(wasPairable, adapter)
        }
        if former.isRegistered { try await call("UnregisterAgent", [.objectPath(PairingAgent.path)]) }
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
    /// Makes the adapter pairable if centrals may pair, and otherwise not pairable.
    ///
    /// An adapter that is not pairable refuses bonds, regardless of the agent's answer. Initially, adapters
    /// are not pairable, but bluetoothd makes them pairable when an agent is registered. If the peripheral
    /// declares no pairing method, the adapter stays as it was, for the pairings of other programs.
    func pairingAllowanceChanged(on adapter: ObjectPath) async throws(BusError) {
        while true {
            let wasPairable = state.withLock(\.wasPairable) ?? false
            let wanted = method == .none ? wasPairable : allowsPairing()
            if try await isPairable(adapter) != wanted {
                state.withLock { $0.setPairable = wanted }
                try await setPairable(wanted, adapter)
            }
            // Another change may have overtaken this one.
            if method == .none || allowsPairing() == wanted { return }
        }
    }

    private func isPairable(_ adapter: ObjectPath) async throws(BusError) -> Bool {
        let answer = try await connection.call(
            BlueZ.name,
            adapter,
            .properties,
            "Get",
            [.string(BlueZ.adapter.text), .string("Pairable")]
        )
        return answer.first?.bool ?? false
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
