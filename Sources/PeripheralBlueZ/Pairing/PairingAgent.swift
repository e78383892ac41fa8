internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// The pairing agent, which passes bluetoothd's pairing requests to the host, each in a task.
///
/// bluetoothd cancels a request when the central disconnects. For a displayed passkey, bluetoothd does not
/// wait for an answer. Therefore the agent watches the device to find out when the passkey is no longer
/// needed.
final class PairingAgent: Sendable {
    private struct Question {
        var device: ObjectPath
        /// The agent that bluetoothd has asked.
        var asked: ObjectIdentifier
        /// The call that waits for the answer; `nil` if bluetoothd does not wait for an answer.
        var reply: DeferredReply?
        var task: Task<Void, Never>
    }

    private struct State {
        /// The adapter whose devices may pair; `nil` for none.
        var adapter: ObjectPath?
        var questions: [UInt64: Question] = [:]
        var nextIdentifier: UInt64 = 0

        mutating func takeQuestions(where isMeant: (Question) -> Bool) -> [Question] {
            let taken = questions.filter { isMeant($0.value) }
            for identifier in taken.keys { questions[identifier] = nil }
            return Array(taken.values)
        }
    }

    private let host: any PeripheralHost
    private let centrals: Centrals
    private let connection: BusConnection
    private let log: RunLog
    private let state = Mutex(State())

    init(host: any PeripheralHost, centrals: Centrals, on connection: BusConnection, log: RunLog) {
        self.host = host
        self.centrals = centrals
        self.connection = connection
        self.log = log
    }

    /// Accepts requests from now on, about the devices of one adapter.
    ///
    /// bluetoothd asks the default agent about all adapters. Devices of other adapters are not the
    /// peripheral's centrals, but they may be centrals of another run in this process.
    func open(for adapter: ObjectPath, as method: PairingMethod) async {
        state.withLock { $0.adapter = adapter }
        let bus = await connection.serverID
        PairingAgents.shared.add(.init(agent: self, method: method, adapter: adapter, bus: bus))
    }

    /// Refuses all pending and future requests.
    ///
    /// Requests that this agent has passed to other agents are refused, too. bluetoothd ignores the answers
    /// after the agent is withdrawn, and the centrals would wait.
    func close() async {
        state.withLock { $0.adapter = nil }
        let others = PairingAgents.shared.others(besides: self)
        PairingAgents.shared.remove(self)
        await refuse { _ in true }
        for other in others { await other.agent.refuse { $0.asked == ObjectIdentifier(self) } }
    }

    private func refuse(where isMeant: (Question) -> Bool) async {
        let questions = state.withLock { $0.takeQuestions(where: isMeant) }
        for question in questions {
            question.reply?.fail(.rejected)
            question.task.cancel()
        }
        for question in questions { await question.task.value }
    }

    /// Ends the display of a device's passkey, because the device is paired or no longer exists.
    func endDisplay(for device: ObjectPath) {
        cancel { $0.reply == nil && $0.device == device }
    }

    /// Cancels the questions for which bluetoothd waits, here and at other agents.
    private func cancelAnswers() {
        let asked = ObjectIdentifier(self)
        cancel { $0.reply != nil && $0.asked == asked }
        for other in PairingAgents.shared.others(besides: self).map(\.agent) {
            // After the question, which may still be on its way.
            other.connection.loop.execute {
                other.cancel { $0.reply != nil && $0.asked == asked }
            }
        }
    }

    private func cancel(where isMeant: (Question) -> Bool) {
        let questions = state.withLock { $0.takeQuestions(where: isMeant) }
        for question in questions { question.task.cancel() }
    }
}

// MARK: - Several adapters

extension PairingAgent {
    /// Warns if runs on several adapters declare different methods.
    ///
    /// bluetoothd has one input and output capability for all adapters, that of the default agent.
    func reportOtherMethods(than method: PairingMethod, on adapter: ObjectPath) {
        let others = PairingAgents.shared.others(besides: self)
        guard let other = others.last(where: { $0.method != method && $0.method != .none }) else { return }
        log.report(
            .differentPairingMethods,
            .warning,
            """
            The peripherals of this program declare different pairing methods: \(method) on \
            \(adapter.name), and \(other.method) on \(other.adapter.name). bluetoothd has only one for all \
            adapters, that of the peripheral that started last. Declare the same method for both.
            """
        )
    }

    /// Lets an agent for another adapter be the default agent again, because this one lets no central pair.
    ///
    /// Otherwise, the central would choose its pairing method for the capability of this agent.
    func yieldDefault() async {
        let others = PairingAgents.shared.others(besides: self)
        guard let other = others.last(where: { $0.method != .none })?.agent else { return }
        // If bluetoothd refuses, the other agent is not registered yet, and becomes the default later.
        _ = try? await other.connection.call(
            BlueZ.name,
            "/org/bluez",
            BlueZ.agentManager,
            "RequestDefaultAgent",
            [.objectPath(Self.path)]
        )
    }
}

extension ObjectPath {
    /// The last component.
    fileprivate var name: String { text.split(separator: "/").last.map(String.init) ?? text }
}

// MARK: - Asking

extension PairingAgent {
    /// Passes a request to the agent of the device's adapter, which may be this one.
    private func pass(
        _ device: ObjectPath,
        to handle: @escaping @Sendable (PairingAgent, _ asked: ObjectIdentifier) -> Void
    ) {
        let asked = ObjectIdentifier(self)
        let others = PairingAgents.shared.others(besides: self)
        guard let other = others.last(where: { device.isBelow($0.adapter) })?.agent else {
            reportStrange(device)
            return handle(self, asked)
        }
        // The other agent may have its own loop.
        other.connection.loop.execute { handle(other, asked) }
    }

    private func reportStrange(_ device: ObjectPath) {
        guard let own = state.withLock(\.adapter), !device.isBelow(own) else { return }
        let adapter = device.text.split(separator: "/").dropLast().last.map(String.init) ?? ""
        log.report(
            .foreignDevice(adapter: adapter),
            .warning,
            """
            A device cannot pair with the adapter \(adapter), because bluetoothd asks this peripheral on \
            another adapter. bluetoothd asks only the program that started last. Let one program serve both \
            adapters.
            """,
            metadata: ["peripheral.device": "\(device.text)"]
        )
    }

    /// Asks the host, and replies to the call.
    private func ask(
        _ question: BackendPairingQuestion,
        of device: ObjectPath,
        _ asked: ObjectIdentifier,
        _ reply: DeferredReply
    ) {
        let isTaken = start(device, asked, reply) { [host, centrals] central in
            let answer = await host.answer(BackendPairingRequest(central: central, question: question))
            if answer != .reject { await centrals.mayPair(central.id, at: question.certainLevel) }
            switch answer {
            case .accept where question != .enterPasskey: reply.send()
            case .passkey(let passkey) where question == .enterPasskey: reply.send([.uint32(passkey)])
            case .accept, .passkey, .reject: reply.fail(.rejected)
            }
        }
        if !isTaken { reply.fail(.rejected) }
    }

    /// Displays a passkey through the host, and disconnects the device if the host refuses.
    ///
    /// bluetoothd does not wait for an answer, so the agent ends the connection. `CancelPairing` would also
    /// end the pairing, but it removes the bond with a central that pairs again. The reason is that
    /// bluetoothd knows only pairings that it has started itself. It handles the call as a request to remove
    /// the bond.
    private func display(_ passkey: UInt32, for device: ObjectPath, _ asked: ObjectIdentifier) {
        endDisplay(for: device)
        let question = BackendPairingQuestion.displayPasskey(passkey)
        let isTaken = start(device, asked, nil) { [self] central in
            let request = BackendPairingRequest(central: central, question: question)
            await centrals.mayPair(central.id, at: question.certainLevel)
            guard await host.answer(request) == .reject, !Task.isCancelled else { return }
            _ = try? await connection.call(BlueZ.name, device, BlueZ.device, "Disconnect")
        }
        guard !isTaken else { return }
        // If the bus connection has ended, the agent cannot end the connection of the device.
        connection.assumeIsolated {
            try? $0.callIgnoringAnswer(BlueZ.name, device, BlueZ.device, "Disconnect")
        }
    }

    /// Starts the task for a request, unless requests about this device are not accepted.
    ///
    /// - Returns: Whether the request was accepted.
    private func start(
        _ device: ObjectPath,
        _ asked: ObjectIdentifier,
        _ reply: DeferredReply?,
        _ work: @escaping @Sendable (Central) async -> Void
    ) -> Bool {
        guard let central = centrals.assumeIsolated({ $0.central(at: device) }) else { return false }
        return state.withLock { state in
            guard let adapter = state.adapter, device.isBelow(adapter) else { return false }
            let identifier = state.nextIdentifier
            state.nextIdentifier += 1
            let task = Task {
                await work(central)
                self.state.withLock { $0.questions[identifier] = nil }
            }
            state.questions[identifier] = Question(device: device, asked: asked, reply: reply, task: task)
            return true
        }
    }
}

// MARK: - On the bus

extension PairingAgent {
    static let path: ObjectPath = "/agent"

    /// `org.bluez.Agent1`.
    var object: ExportedObject {
        ExportedObject(
            Self.path,
            [
                ExportedInterface(
                    BlueZ.agent,
                    callers: BlueZ.name,
                    methods: [
                        question("RequestAuthorization", "o", "") { _ in .authorize },
                        question("RequestConfirmation", "ou", "") { .confirmNumber($0) },
                        question("RequestPasskey", "o", "u") { _ in .enterPasskey },
                        display,
                        ExportedMethod("Cancel", "", "") { [self] _, reply in
                            cancelAnswers()
                            reply.send()
                        },
                        ExportedMethod("Release", "", "") { _, reply in reply.send() },
                        // These requests concern devices other than LE centrals.
                        refusal("RequestPinCode", "o", "s"),
                        refusal("DisplayPinCode", "os", ""),
                        refusal("AuthorizeService", "os", ""),
                    ]
                )
            ]
        )
    }

    private func question(
        _ method: MemberName,
        _ input: Signature,
        _ output: Signature,
        _ make: @escaping @Sendable (_ number: UInt32) -> BackendPairingQuestion
    ) -> ExportedMethod {
        ExportedMethod(method, input, output) { [self] call, reply in
            var arguments = call.arguments
            guard let device = try? arguments.readObjectPath() else { return reply.fail(.rejected) }
            // Some requests contain no number.
            let number = try? arguments.readUInt32()
            let (question, deferred) = (make(number ?? 0), reply.deferred())
            pass(device) { $0.ask(question, of: device, $1, deferred) }
        }
    }

    private var display: ExportedMethod {
        ExportedMethod("DisplayPasskey", "ouq", "") { [self] call, reply in
            reply.send()
            var arguments = call.arguments
            guard let device = try? arguments.readObjectPath(), let passkey = try? arguments.readUInt32(),
                let enteredDigits = try? arguments.readUInt16()
            else { return }
            // bluetoothd calls this method again for each digit that the central reports as typed.
            if enteredDigits == 0 { pass(device) { $0.display(passkey, for: device, $1) } }
        }
    }

    private func refusal(_ method: MemberName, _ input: Signature, _ output: Signature) -> ExportedMethod {
        ExportedMethod(method, input, output) { _, reply in reply.fail(.rejected) }
    }
}

extension BackendPairingQuestion {
    /// The minimum security level of a connection after a pairing with such a request.
    fileprivate var certainLevel: SecurityLevel {
        switch self {
        case .authorize: .encrypted
        // Legacy pairing and LE Secure Connections both use a passkey.
        case .displayPasskey, .enterPasskey: .authenticated
        case .confirmNumber: .secureConnections
        }
    }
}

extension MethodError {
    fileprivate static let rejected = MethodError("org.bluez.Error.Rejected", "The peripheral refuses.")
}
