import PeripheralBlueZ
import PeripheralCore
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeclarationTests {
    /// The included service is pinned behind the one that includes it.
    @Test func servicesStandWhereTheyArePinned() async throws {
        let level = Characteristic<UInt8>(0x2A19, value: 99)
        let power = Characteristic<Bool>(0x2A56, [.read, .notify]) {
            Read { true }
            UserDescription("Power")
        }
        let battery = GATTService(0x180F, isPrimary: false, handle: 0x0200) { level }
        let peripheral = Peripheral("Pinned") {
            battery
            GATTService(0x1815, includes: [battery], handle: 0x0100) { power }
        }
        #expect(peripheral.validate(for: .bluez("5.87")) == [])
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                // Declaration of the service, include, declaration, value, configuration, description.
                #expect(try await central.locate(power).valueHandle == 0x0103)
                #expect(try await central.locate(level).valueHandle == 0x0202)
                #expect(try await central.read(0x0101, offset: 0) == [0x00, 0x02, 0x02, 0x02, 0x0F, 0x18])
                #expect(try await central.read(level) == 99)
                #expect(try await central.read(0x0105, offset: 0) == Array("Power".utf8))
                central.disconnect()
            }
        }
    }

    @Test func whoIsNotAuthorizedIsRefused() async throws {
        let value = Characteristic<UInt8>(0x2A19, [.read, .write], length: .exactly(1)) {
            Authorization { false }
            Read { 1 }
            Write { _ in Issue.record("The handler was asked.") }
        }
        let peripheral = Peripheral("Closed") { GATTService(0x180F) { value } }
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                await #expect(throws: ATTError.insufficientAuthorization) { try await central.read(value) }
                await #expect(throws: ATTError.insufficientAuthorization) {
                    try await central.write(value, 1)
                }
                let handle = try await central.locate(value).valueHandle
                await #expect(throws: ATTError.invalidAttributeValueLength) {
                    try await central.write(handle, [1, 2])
                }
                central.disconnect()
            }
        }
    }

    /// An error, not a crash.
    @Test func aLiteralThatIsNoVersionIsRefused() async throws {
        let error = await #expect(throws: BlueZVersionError.self) {
            try await withEmulatedBlueZ(.init(version: "5,66")) { _ in Issue.record("The body has begun.") }
        }
        #expect(error?.text == "5,66")
        await #expect(throws: BlueZVersionError.self) {
            try await withEmulatedBlueZ(.init(version: "5.99")) { _ in Issue.record("The body has begun.") }
        }
        let peripheral = Peripheral("P") { GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) } }
        await #expect(throws: BlueZVersionError.self) {
            try await peripheral.run(on: .bluez(version: "abc"), logger: .silent)
        }
    }
}
