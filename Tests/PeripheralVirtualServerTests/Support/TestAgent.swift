import PeripheralKit
import PeripheralTesting
import Synchronization

/// An agent that records the questions, and answers as the test demands.
final class TestAgent: VirtualPairingAgent {
    let capability: PairingUser.Capability
    private let accepts: Bool
    private let passkey: @Sendable () async -> UInt32?
    private let log = Mutex<[String]>([])
    /// What it displays.
    let displayed: AsyncStream<UInt32>
    private let display: AsyncStream<UInt32>.Continuation

    init(
        _ capability: PairingUser.Capability = .noInputNoOutput,
        accepts: Bool = true,
        passkey: @escaping @Sendable () async -> UInt32? = { nil }
    ) {
        self.capability = capability
        self.accepts = accepts
        self.passkey = passkey
        (displayed, display) = AsyncStream.makeStream()
    }

    var questions: [String] { log.withLock(\.self) }

    func authorize(_ central: Central) async -> Bool {
        log.withLock { $0.append("authorize") }
        return accepts
    }

    func display(_ passkey: UInt32, for central: Central) async {
        log.withLock { $0.append("display") }
        display.yield(passkey)
    }

    func enterPasskey(for central: Central) async -> UInt32? {
        log.withLock { $0.append("enter") }
        return await passkey()
    }

    func confirm(_ number: UInt32, for central: Central) async -> Bool {
        log.withLock { $0.append("confirm") }
        display.yield(number)
        return accepts
    }
}
