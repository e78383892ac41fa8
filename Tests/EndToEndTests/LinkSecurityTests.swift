import PeripheralBlueZ
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Updates that need an encrypted link, also if the kernel does not report the encryption.
@Suite(.timeLimit(.minutes(1)))
struct LinkSecurityTests {
    private struct Unknown: KernelLinks {
        func links(of adapter: ObjectPath) -> [LinkState]? { nil }
    }

    private static let versions: [BlueZVersion] = [.v5_66, .v5_87]

    @Test(arguments: versions)
    func whoIsBackHasToUseSomethingSecuredFirst(version: BlueZVersion) async throws {
        let value = Characteristic<UInt8>(0x2A19, [.read, .notify], security: .encrypted) { Read { 42 } }
        let plain = Characteristic<UInt8>(0x2A38, value: 1)
        let peripheral = Peripheral("Safe", pairing: .justWorks) {
            GATTService(.battery) {
                value; plain
            }
        }
        let log = LogRecorder()
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            let backend = BlueZBackend(
                bus: .address(bluez.busAddress),
                kernelLinks: Unknown()
            )
            try await peripheral.run(on: backend, logger: log.logger) { session in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await central.pair(.justWorks)
                try await central.subscribe(to: value)
                _ = try await central.read(plain)
                try await session.notify(value, 1)
                #expect(try await central.nextUpdate(of: value) == 1)
                central.disconnect()
                try await central.connect()
                _ = try await central.read(plain)
                try await session.notify(value, 2)
                _ = try await central.read(value)
                try await session.notify(value, 3)
                #expect(try await central.nextUpdate(of: value) == 3)
                await bluez.killDaemon()
                try await until { !session.state.isOnTheAir }
                try await bluez.startDaemon()
                try await until { session.state.isOnTheAir }
            }
        }
        #expect(log.lines.filter { $0.hasPrefix("notice: The kernel does not report") }.count == 1)
    }

    /// Before BlueZ 5.76, there is one way to all.
    @Test func theLogTellsOnceOfEachCharacteristicThatIsWithheld() async throws {
        let values = [0x2A19 as BluetoothUUID, 0x2A37].map {
            Characteristic<UInt8>($0, [.read, .notify], security: AttributeSecurity(notify: .encrypted)) {
                Read { 42 }
            }
        }
        let peripheral = Peripheral("Safe", pairing: .justWorks) { GATTService(.battery) { values } }
        let log = LogRecorder()
        try await withEmulatedBlueZ { bluez in
            let backend = bluez.backend(clock: ContinuousClock())
            try await peripheral.run(on: backend, logger: log.logger) { session in
                let centrals = [bluez.central(for: peripheral), bluez.central(for: peripheral)]
                for central in centrals {
                    try await central.connect()
                    try await central.pair(.justWorks)
                    for value in values { try await central.subscribe(to: value) }
                    _ = try await central.read(values[0])
                }
                centrals[0].disconnect()
                try await centrals[0].connect(mtu: 517, encrypting: false)
                _ = try await centrals[0].read(values[0])
                for number: UInt8 in 1...3 {
                    for value in values { try await session.notify(value, number) }
                }
                try centrals[0].encrypt()
                try await session.notify(values[1], 4)
                #expect(try await centrals[1].nextUpdate(of: values[1]) == 4)
            }
        }
        let told = log.lines.filter { $0.hasPrefix("notice: Values are withheld from all") }
        #expect(told.count == 2)
        #expect(Set(told).count == 2)
    }

    /// A stranger cannot keep others from what they have subscribed to.
    @Test(arguments: versions)
    func whoHasNotSubscribedDisturbsNobody(version: BlueZVersion) async throws {
        let value = Characteristic<UInt8>(
            0x2A19,
            [.read, .notify],
            security: AttributeSecurity(notify: .encrypted)
        ) {
            Read { 42 }
        }
        let peripheral = Peripheral("Safe", pairing: .justWorks) { GATTService(.battery) { value } }
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await central.pair(.justWorks)
                try await central.subscribe(to: value)
                _ = try await central.read(value)
                let stranger = central.makeAnother()
                try await stranger.connect()
                await #expect(throws: ATTError.insufficientEncryption) {
                    try await stranger.subscribe(to: value)
                }
                _ = try await stranger.read(value)
                try await session.notify(value, 1)
                #expect(try await central.nextUpdate(of: value) == 1)
            }
        }
    }
}
