import PeripheralKit
import PeripheralTesting
import Testing

@testable import custom_lamp

/// The test of README.md, and what it does not show.
@Suite(.timeLimit(.minutes(1)))
struct CustomLampTests {
    private func run(
        _ body: @escaping @Sendable (VirtualCentral, LampService) async throws -> Void
    ) async throws {
        let service = LampService(lamp: Lamp())
        let pairing = Pairing.displayPasskey { passkey, _ in Display.show(passkey) }
        let peripheral = Peripheral("Lamp", pairing: pairing) { service }
        try await peripheral.test { central in try await body(central, service) }
    }

    @Test func lampSwitches() async throws {
        try await run { central, service in
            try await central.pair(.enteringDisplayedPasskey)
            try await central.write(service.power, true)
            #expect(try await central.read(service.power) == true)
        }
    }

    @Test func lampRefusesAStranger() async throws {
        try await run { central, service in
            await #expect(throws: ATTError.insufficientAuthentication) {
                try await central.write(service.power, true)
            }
        }
    }

    @Test func lampNotifies() async throws {
        try await run { central, service in
            try await central.pair(.enteringDisplayedPasskey)
            try await central.subscribe(to: service.power)
            for isOn in [true, false] {
                try await central.write(service.power, isOn)
                #expect(try await central.nextUpdate(of: service.power) == isOn)
            }
        }
    }
}
