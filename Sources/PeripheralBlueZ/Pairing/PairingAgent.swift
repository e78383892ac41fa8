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
    private let state = Mutex(State())

    init(host: any PeripheralHost, centrals: Centrals, on connection: BusConnection) {
        self.host = host
        self.centrals = centrals
        self.connection = connection
    }

    /// Accepts requests from now on, about the devices of one adapter.
    ///
    /// bluetoothd asks the default agent about all adapters. Devices of other adapters are not the
    /// peripheral's centrals.
    func open(for adapter: ObjectPath) {
        state.withLock { $0.adapter = adapter }
    }

    /// Refuses all pending and future requests.
    func close() async {
        let questions = state.withLock { state in
            state.adapter = nil
            return state.takeQuestions { _ in true }
        }
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

    private func cancel(where isMeant: (Question) -> Bool) {
        let questions = state.withLock { $0.takeQuestions(where: isMeant) }
        for question in questions { question.task.cancel() }
    }
}

// MARK: - Asking

extension PairingAgent {
    /// Asks the host, and replies to the call.
    private func ask(_ question: BackendPairingQuestion, of device: ObjectPath, _ reply: DeferredReply) {
        let isTaken = start(device, reply) { [host, centrals] central in
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
    private func display(_ passkey: UInt32, for device: ObjectPath) {
        endDisplay(for: device)
        let question = BackendPairingQuestion.displayPasskey(passkey)
        let isTaken = start(device, nil) { [self] central in
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
            state.questions[identifier] = Question(device: device, reply: reply, task: task)
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
                            cancel { $0.reply != nil }
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
            ask(make(number ?? 0), of: device, reply.deferred())
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
            if enteredDigits == 0 { display(passkey, for: device) }
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
