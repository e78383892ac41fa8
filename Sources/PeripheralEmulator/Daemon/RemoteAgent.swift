internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting
internal import Synchronization

/// A pairing agent of a program, which is asked with calls of `org.bluez.Agent1`.
final class RemoteAgent: Sendable {
    private struct State {
        /// Whether a question is pending; bluetoothd asks one question at a time.
        var isAsked = false
        /// Whether the answer has arrived in time.
        var isAnswered = false
        /// Whether the program has unregistered the agent or has ended; if so, its answer is ignored.
        var isAbandoned = false
    }

    let client: Client
    let capability: PairingUser.Capability
    private let connection: BusConnection
    private let state = Mutex(State())

    init(_ client: Client, capability: PairingUser.Capability, connection: BusConnection) {
        self.client = client
        self.capability = capability
        self.connection = connection
    }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
    }

    /// Informs the program that the agent is no longer registered.
    func release() {
        abandon()
        send("Release")
    }

    /// Asks for an answer.
    ///
    /// - Parameters:
    ///   - method: The method that asks the question.
    ///   - arguments: The arguments of the method.
    ///   - limit: The time that bluetoothd waits.
    ///   - clock: The clock that measures this time.
    /// - Returns: The answer; `nil` if the program refuses or cannot be asked.
    func ask(
        _ method: MemberName,
        _ arguments: [BusValue],
        within limit: Duration,
        on clock: any Clock<Duration>
    ) async -> [BusValue]? {
        let isBusy = state.withLock { state in
            defer { (state.isAsked, state.isAnswered) = (true, state.isAsked && state.isAnswered) }
            return state.isAsked
        }
        guard !isBusy else { return nil }
        defer { state.withLock { $0.isAsked = false } }
        let answer = try? await connection.call(
            client.owner,
            client.path,
            BlueZName.agent,
            method,
            arguments,
            within: limit,
            on: clock,
            arrived: { [self] in state.withLock { $0.isAnswered = !$0.isAbandoned } }
        )
        if state.withLock({ $0.isAbandoned && !$0.isAnswered }) {
            // bluetoothd discards the answer, and the pairing ends with its time limit.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return nil
        }
        if Task.isCancelled { send("Cancel") }
        return answer
    }

    /// Calls a method without waiting for its return, after all work that is already queued on the loop.
    func send(_ method: MemberName, _ arguments: [BusValue] = []) {
        connection.loop.execute { [client, connection] in
            connection.assumeIsolated { connection in
                // A program that has ended needs no message.
                try? connection.callWithoutReply(
                    client.owner,
                    client.path,
                    BlueZName.agent,
                    method,
                    arguments
                )
            }
        }
    }
}

/// A ``RemoteAgent`` that acts as the pairing agent of one adapter.
struct AdapterAgent: VirtualPairingAgent {
    /// The time that bluetoothd waits for an answer (`REQUEST_TIMEOUT` in its agent.c).
    ///
    /// The limit of the kernel is shorter.
    private static let answerLimit: Duration = .seconds(60)

    let agent: RemoteAgent
    let adapter: ObjectPath
    let clock: any Clock<Duration>

    var capability: PairingUser.Capability { agent.capability }

    func authorize(_ central: Central) async -> Bool {
        await ask("RequestAuthorization", central) != nil
    }

    func display(_ passkey: UInt32, for central: Central) async {
        // The central's user has not entered a digit yet.
        agent.send("DisplayPasskey", [device(central), .uint32(passkey), .uint16(0)])
    }

    func enterPasskey(for central: Central) async -> UInt32? {
        guard let answer = await ask("RequestPasskey", central), answer.signature == "u" else { return nil }
        return answer.first?.integer(UInt32.self)
    }

    func confirm(_ number: UInt32, for central: Central) async -> Bool {
        await ask("RequestConfirmation", central, [.uint32(number)]) != nil
    }

    private func ask(
        _ method: MemberName,
        _ central: Central,
        _ arguments: [BusValue] = []
    ) async -> [BusValue]? {
        await agent.ask(method, [device(central)] + arguments, within: Self.answerLimit, on: clock)
    }

    private func device(_ central: Central) -> BusValue {
        .objectPath(adapter.device(central.linkAddress))
    }
}
