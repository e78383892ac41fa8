import MyDevicePeripheral
import PeripheralKit
import PeripheralTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SwitchServiceTests {
    @Test func turnsForACentralThatHasPaired() async throws {
        let device = SwitchService { _ in }
        try await device.peripheral { _ in }.test { central in
            await #expect(throws: ATTError.insufficientAuthentication) {
                try await central.write(device.isOn, true)
            }
            try await central.pair(.enteringDisplayedPasskey)
            try await central.subscribe(to: device.isOn)
            try await central.write(device.isOn, true)
            #expect(try await central.nextUpdate(of: device.isOn) == true)
        }
    }

    @Test func staysAsItIsWhileItIsBlocked() async throws {
        let device = SwitchService { isOn in if isOn { throw SwitchService.blocked } }
        try await device.peripheral { _ in }.test { central in
            try await central.pair(.enteringDisplayedPasskey)
            await #expect(throws: SwitchService.blocked) {
                try await central.write(device.isOn, true)
            }
            let isOn = try await central.read(device.isOn)
            #expect(!isOn)
        }
    }

    @Test func isOnAgainAfterARestart() async throws {
        let turned = Mutex<[Bool]>([])
        let device = SwitchService { isOn in turned.withLock { $0.append(isOn) } }
        let peripheral = device.peripheral { _ in }
        let store = InMemoryRestorationStore()
        try await peripheral.run(on: InMemoryBackend(), restoringFrom: store) { session in
            try await session.set(device.isOn, to: true)
        }
        try await peripheral.run(on: InMemoryBackend(), restoringFrom: store) { session async throws in
            #expect(try session.value(of: device.isOn) == true)
        }
        #expect(turned.withLock(\.self) == [true])
    }
}
