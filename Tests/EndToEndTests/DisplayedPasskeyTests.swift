import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// A person who enters the passkey that the peripheral displays, in memory and with an emulated bluetoothd.
@Suite(.timeLimit(.minutes(1)))
struct DisplayedPasskeyTests {
    enum Stack: CaseIterable, Sendable { case inMemory, emulated }

    private static let secret = Characteristic<UInt8>(0x2A19, .read, security: .authenticated) { Read { 42 } }

    private static func run(
        on stack: Stack,
        _ pairing: Pairing,
        _ body: @escaping @Sendable (VirtualCentral) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Safe", pairing: pairing) { GATTService(.battery) { secret } }
        switch stack {
        case .inMemory:
            try await peripheral.test(body)
        case .emulated:
            try await withEmulatedBlueZ { bluez in
                try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    try await body(central)
                }
            }
        }
    }

    private static func pairsAgain(_ central: VirtualCentral) async throws {
        central.forgetBond()
        central.disconnect()
        try await central.connect()
        try await central.pair(.enteringDisplayedPasskey)
        #expect(try await central.read(secret) == 42)
    }

    @Test(arguments: Stack.allCases)
    func personEntersWhatTheHandlerHasShown(on stack: Stack) async throws {
        let count = Mutex(0)
        let pairing = Pairing.displayPasskey { _, _ in
            // The pairing continues only after the handler has returned.
            await Task.yield()
            count.withLock { $0 += 1 }
        }
        try await Self.run(on: stack, pairing) { central in
            for attempt in 1...3 {
                try await Self.pairsAgain(central)
                #expect(count.withLock(\.self) == attempt)
            }
        }
    }

    @Test(arguments: Stack.allCases)
    func handlerMayShowThePasskeyUntilThePairingEnds(on stack: Stack) async throws {
        let pairing = Pairing.displayPasskey { _, _ in try await untilCancelled() }
        try await Self.run(on: stack, pairing) { central in try await Self.pairsAgain(central) }
    }

    @Test(arguments: Stack.allCases)
    func cancelledAttemptDoesNotDisturbTheNext(on stack: Stack) async throws {
        let attempt = Mutex<Task<Void, any Error>?>(nil)
        let hasAttempt = Signal<Void>()
        let pairing = Pairing.displayPasskey { _, _ in
            guard let attempt = attempt.withLock({ $0.take() }) else { return }
            attempt.cancel()
            try await untilCancelled()
        }
        try await Self.run(on: stack, pairing) { central in
            let first = Task {
                try await hasAttempt.next()
                try await central.pair(.enteringDisplayedPasskey)
            }
            attempt.withLock { $0 = first }
            hasAttempt.send()
            await #expect(throws: (any Error).self) { try await first.value }
            await #expect(throws: (any Error).self) { try await central.read(Self.secret) }
            try await Self.pairsAgain(central)
        }
    }

    @Test(arguments: Stack.allCases)
    func personEntersNothingIfTheHandlerFails(on stack: Stack) async throws {
        struct Failure: Error {}
        try await Self.run(on: stack, .displayPasskey { _, _ in throw Failure() }) { central in
            await #expect(throws: TestCentralError.self) { try await central.pair(.enteringDisplayedPasskey) }
        }
    }

    @Test(arguments: Stack.allCases)
    func peripheralWithoutADisplayFailsThePairingAndSaysWhy(on stack: Stack) async throws {
        try await Self.run(on: stack, .enterPasskey { _ in 1 }) { central in
            let error = await #expect(throws: TestCentralError.self) {
                try await central.pair(.enteringDisplayedPasskey)
            }
            #expect(error?.code == .pairingFailed)
            #expect(error?.message.contains("PairingUser.entering(_:)") == true)
        }
    }
}
