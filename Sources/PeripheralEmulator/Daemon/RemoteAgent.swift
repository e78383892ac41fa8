internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting
internal import Synchronization

/// A pairing agent of a program: asks it by calls of `org.bluez.Agent1`.
final class RemoteAgent: Sendable {
    private struct State {
        /// bluetoothd has one question at a time.
        var isAsked = false
        /// The answer has come while it counts.
        var isAnswered = false
        /// The program has taken the agent back, or is gone: its answer does not count any more.
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

    /// Tells the program that the agent is registered no longer.
    func release() {
        abandon()
        tell("Release")
    }

    /// Asks for an answer.
    ///
    /// - Parameters:
    ///   - method: The question.
    ///   - arguments: Its arguments.
    ///   - limit: How long bluetoothd waits.
    ///   - clock: What measures that.
    /// - Returns: `nil` when the program refuses, or cannot be asked.
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
            // bluetoothd drops the answer, and leaves the pairing to its time limit.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return nil
        }
        if Task.isCancelled { tell("Cancel") }
        return answer
    }

    /// Calls a method without asking for an answer, after all that is on its way to the loop.
    func tell(_ method: MemberName, _ arguments: [BusValue] = []) {
        connection.loop.execute { [client, connection] in
            connection.assumeIsolated { connection in
                // A program that is gone needs not be told.
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

/// What a ``RemoteAgent`` is to the centrals of one adapter.
struct AdapterAgent: VirtualPairingAgent {
    /// How long bluetoothd waits for an answer (`REQUEST_TIMEOUT` in its agent.c); the kernel gives up before.
    private static let answerLimit: Duration = .seconds(60)

    let agent: RemoteAgent
    let adapter: ObjectPath
    let clock: any Clock<Duration>

    var capability: PairingUser.Capability { agent.capability }

    func authorize(_ central: Central) async -> Bool {
        await ask("RequestAuthorization", central) != nil
    }

    func display(_ passkey: UInt32, for central: Central) async {
        // Nobody has entered a digit yet.
        agent.tell("DisplayPasskey", [device(central), .uint32(passkey), .uint16(0)])
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
