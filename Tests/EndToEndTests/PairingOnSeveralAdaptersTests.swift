import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// One program with a peripheral on each of two adapters, for which bluetoothd has only one agent.
@Suite(.timeLimit(.minutes(1)))
struct PairingOnSeveralAdaptersTests {
    private static let secret = Characteristic<UInt8>(0x2A19, .read, security: .encrypted) { Read { 42 } }
    private static let open = Characteristic<UInt8>(0x2A38, value: 1)

    private static func lock(_ pairing: Pairing) -> Peripheral {
        Peripheral("Lock", pairing: pairing) { GATTService(.battery) { secret } }
    }

    private static func run(
        _ first: Peripheral,
        _ second: Peripheral,
        _ log: LogRecorder = LogRecorder(),
        _ body: @escaping @Sendable (EmulatedBlueZ) async throws -> Void
    ) async throws {
        try await withEmulatedBlueZ(.init(adapters: ["hci0", "hci1"])) { bluez in
            try await first.run(on: bluez.backend(adapter: "hci0"), logger: log.logger) { _ in
                try await second.run(on: bluez.backend(adapter: "hci1"), logger: log.logger) { _ in
                    try await body(bluez)
                }
            }
        }
    }

    @Test func theRunOfTheAdapterDecides() async throws {
        let asked = Log<String>()
        func pairing(_ adapter: String, _ mayPair: Bool) -> Pairing {
            .justWorks { _ in
                asked.append(adapter)
                return mayPair
            }
        }
        let (first, second) = (Self.lock(pairing("hci0", true)), Self.lock(pairing("hci1", false)))
        try await Self.run(first, second) { bluez in
            let central = bluez.central(for: first, near: "hci0")
            try await central.connect()
            try await central.pair(.justWorks)
            #expect(try await central.read(Self.secret) == 42)
            let refused = bluez.central(for: second, near: "hci1")
            try await refused.connect()
            await #expect(throws: TestCentralError.self) { try await refused.pair(.justWorks) }
        }
        #expect(asked.entries == ["hci0", "hci1"])
    }

    @Test func theRunOfTheAdapterShowsThePasskey() async throws {
        let shown = Signal<UInt32>()
        let first = Self.lock(.displayPasskey { passkey, _ in shown.send(passkey) })
        let second = Self.lock(.displayPasskey { _, _ in })
        try await Self.run(first, second) { bluez in
            let central = bluez.central(for: first, near: "hci0")
            try await central.connect()
            try await central.pair(.entering { try? await shown.next() })
            #expect(try await central.read(Self.secret) == 42)
        }
    }

    /// bluetoothd takes back its question when the central leaves.
    @Test func theHandlerEndsWhenTheCentralLeaves() async throws {
        let (asked, ended) = (Signal<Void>(), Signal<Void>())
        let patient = Pairing.confirmNumber { _, _ in
            asked.send()
            defer { ended.send() }
            try await untilCancelled()
            return true
        }
        let first = Self.lock(patient)
        try await Self.run(first, Self.lock(.confirmNumber { _, _ in true })) { bluez in
            let central = bluez.central(for: first, near: "hci0")
            try await central.connect()
            let pairing = Task { try await central.pair(.confirming()) }
            try await asked.next()
            central.disconnect()
            try await ended.next()
            await #expect(throws: TestCentralError.self) { try await pairing.value }
        }
    }

    @Test func aPeripheralWithoutPairingDoesNotChangeTheMethod() async throws {
        let log = LogRecorder()
        let none = Peripheral("Open") { GATTService(.battery) { Self.open } }
        let first = Self.lock(.justWorks)
        try await Self.run(first, none, log) { bluez in
            let central = bluez.central(for: first, near: "hci0")
            try await central.connect()
            try await central.pair(.justWorks)
            let stranger = bluez.central(for: none, near: "hci1")
            try await stranger.connect()
            await #expect(throws: TestCentralError.self) { try await stranger.pair(.justWorks) }
        }
        #expect(!log.lines.contains { $0.contains("different pairing methods") })
    }

    @Test func differentMethodsAreReported() async throws {
        let log = LogRecorder()
        try await Self.run(Self.lock(.displayPasskey { _, _ in }), Self.lock(.justWorks), log) { _ in }
        let text = "different pairing methods: justWorks on hci1, and displayPasskey on hci0"
        #expect(log.lines.count { $0.contains(text) } == 1)
    }
}
