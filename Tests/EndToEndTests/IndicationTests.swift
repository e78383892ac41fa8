import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct IndicationTests {
    /// When a central leaves that is not bonded, bluetoothd closes the first socket that it has.
    @Test(arguments: [BlueZVersion.v5_82, .v5_87])
    func confirmationThatIsLostWithASocketIsNoUnsubscription(version: BlueZVersion) async throws {
        let value = Characteristic<[UInt8]>(0x2A19, [.read, .indicate]) { Read { [] } }
        let peripheral = Peripheral("Lost") { GATTService(.battery) { value } }
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                let staying = bluez.central(for: peripheral)
                let leaving = bluez.central(for: peripheral)
                for central in [staying, leaving] {
                    try await central.connect()
                    try await central.subscribe(to: value)
                    _ = try await central.read(value)
                }
                let subscriber = try #require(try session.subscribers(of: value).first?.central)
                staying.setConfirmsIndications(false)
                let indication = Task { try await session.indicate(value, [1], to: subscriber) }
                #expect(try await staying.nextUpdate(of: value) == [1])
                leaving.disconnect()
                let error = await #expect(throws: PeripheralError.self) { try await indication.value }
                #expect(error?.code == .unconfirmed)
                #expect(try session.subscribers(of: value).map(\.central) == [subscriber])
            }
        }
    }
}
