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
    private static let manager: ObjectPath = "/org/bluez"

    private let agent: PairingAgent
    private let method: PairingMethod
    private let connection: BusConnection
    private let log: RunLog
    private let pairable: PairableSetting
    /// Whether changes of the adapter by others are undone.
    private let keepsPairable: Bool
    private let isRegistered = Atomic(false)

    /// If `isPairable` is `nil`, the pairing method determines whether the adapter is pairable.
    init(
        of agent: PairingAgent,
        as method: PairingMethod,
        on connection: BusConnection,
        by clock: any Clock<Duration>,
        log: RunLog,
        isPairable: Bool?,
        allowsPairing: @escaping @Sendable () -> Bool
    ) {
        self.agent = agent
        self.method = method
        self.connection = connection
        self.log = log
        keepsPairable = method != .none || isPairable != nil
        // If no central may pair, the adapter stays as it was, for the pairings of other programs.
        pairable = PairableSetting(on: connection, by: clock, log: log) { former in
            isPairable ?? (method == .none ? former : allowsPairing())
        }
    }

    /// Registers the agent, and makes the adapter pairable if centrals may pair.
    ///
    /// - Throws: `BusError`; ``withdraw(from:)`` then reverts the changes.
    func register(on adapter: ObjectPath) async throws(BusError) {
        guard let capability = method.capability else { return }
        await agent.open(for: adapter, as: method)
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
        try await pairable.begin(on: adapter, isWatched: keepsPairable)
        try await call("RegisterAgent", [.objectPath(PairingAgent.path), .string(capability)])
        isRegistered.store(true, ordering: .relaxed)
        try await call("RequestDefaultAgent", [.objectPath(PairingAgent.path)])
        if method == .none {
            await agent.yieldDefault()
        } else {
            agent.reportOtherMethods(than: method, on: adapter)
        }
    }

    /// Refuses the pending requests, and restores the adapter.
    func withdraw(from adapter: ObjectPath) async throws(BusError) {
        // The agent is closed first. bluetoothd ignores the answers of a withdrawn agent, and the centrals
        // would wait.
        await agent.close()
        guard isRegistered.exchange(false, ordering: .relaxed) else { return }
        try await pairable.restore(adapter) { () throws(BusError) in
            try await call("UnregisterAgent", [.objectPath(PairingAgent.path)])
        }
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

    /// Makes the adapter pairable if centrals may pair, and otherwise not pairable.
    func pairingAllowanceChanged(on adapter: ObjectPath) async throws(BusError) {
        try await pairable.apply(to: adapter)
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
