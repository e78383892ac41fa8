import PeripheralKit
import PeripheralTesting
import Testing

@testable import custom_lamp

/// The test of README.md, and what it does not show.
@Suite(.timeLimit(.minutes(1)))
struct CustomLampTests {
    /// Runs the lamp, with a user who types the passkey that the lamp shows.
    private func run(
        _ body: @escaping @Sendable (VirtualCentral, LampService, PairingUser) async throws -> Void
    ) async throws {
        let service = LampService(lamp: Lamp())
        let (shown, show) = AsyncStream.makeStream(of: UInt32.self)
        let pairing = Pairing.displayPasskey { passkey, _ in show.yield(passkey) }
        let peripheral = Peripheral("Lamp", pairing: pairing) { service }
        try await peripheral.test { central in
            try await body(central, service, .entering { await shown.first { _ in true } })
        }
    }

    @Test func lampSwitches() async throws {
        try await run { central, service, user in
            try await central.pair(user)
            try await central.write(service.power, true)
            #expect(try await central.read(service.power) == true)
        }
    }

    @Test func lampRefusesAStranger() async throws {
        try await run { central, service, _ in
            await #expect(throws: ATTError.insufficientAuthentication) {
                try await central.write(service.power, true)
            }
        }
    }

    @Test func lampNotifies() async throws {
        try await run { central, service, user in
            try await central.pair(user)
            try await central.subscribe(to: service.power)
            for isOn in [true, false] {
                try await central.write(service.power, isOn)
                #expect(try await central.nextUpdate(of: service.power) == isOn)
            }
        }
    }
}
