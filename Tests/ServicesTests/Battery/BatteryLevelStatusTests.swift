import PeripheralBattery
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BatteryLevelStatusTests {
    /// Battery Service 1.1, section 3.2: flags, power state, identifier, level, additional status.
    @Test(
        arguments: [
            (BatteryLevelStatus(BatteryPowerState(isPresent: false)), [0x00, 0x00, 0x00]),
            (BatteryLevelStatus(BatteryPowerState()), [0x00, 0x01, 0x00]),
            (
                BatteryLevelStatus(
                    BatteryPowerState(
                        wiredPower: .connected,
                        wirelessPower: .unknown,
                        charge: .inactivelyDischarging,
                        chargeLevel: .critical,
                        chargingType: .float,
                        chargingFault: [.battery, .externalPower, .other]
                    ),
                    identifier: 0x1234,
                    level: BatteryLevel(87),
                    condition: BatteryCondition(needsService: nil, isFaulty: true)
                ),
                [0x07, 0xF3, 0x79, 0x34, 0x12, 0x57, 0x06]
            ),
            (
                BatteryLevelStatus(
                    BatteryPowerState(charge: .charging, chargeLevel: .low, chargingType: .constantVoltage),
                    condition: BatteryCondition(needsService: true)
                ),
                [0x04, 0x21, 0x05, 0x01]
            ),
        ] as [(BatteryLevelStatus, [UInt8])]
    )
    func tellsEachPart(status: BatteryLevelStatus, bytes: [UInt8]) throws {
        #expect(status.gattBytes == bytes)
        #expect(try BatteryLevelStatus(gattBytes: bytes) == status)
    }

    @Test(
        arguments: [
            ("wired power", [0x00, 0x07, 0x00]), ("wireless power", [0x00, 0x19, 0x00]),
            ("charging type", [0x00, 0x01, 0x0A]), ("service", [0x04, 0x01, 0x00, 0x03]),
            ("level", [0x02, 0x01, 0x00, 101]), ("length", [0x01, 0x01, 0x00, 0x34]),
            ("more", [0x00, 0x01, 0x00, 0x00]),
        ] as [(String, [UInt8])]
    )
    func refuses(what: String, bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try BatteryLevelStatus(gattBytes: bytes) }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decoderEndsWhateverItReads(seed: UInt64) throws {
        try fuzz(BatteryLevelStatus.self, seed: seed, count: 0...8)
    }

    @Test func isKeptAndTold() async throws {
        let battery = BatteryService(
            level: BatteryLevel(50),
            status: BatteryLevelStatus(BatteryPowerState(chargeLevel: .good)),
            which: .left
        )
        let characteristic = try #require(battery.status)
        try await Peripheral("Sensor") { battery }.test { central, session in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180F, uuid: 0x2A19, properties: [.read, .notify]),
                    DeclaredCharacteristic(service: 0x180F, uuid: 0x2BED, properties: [.read, .notify]),
                ]
            )
            // A byte, no exponent, percent, the name space of the Bluetooth SIG, left.
            let format = try await central.read(.characteristicPresentationFormat, of: battery.level)
            #expect(format == [0x04, 0x00, 0xAD, 0x27, 0x01, 0x0D, 0x01])
            #expect(try await central.read(characteristic).power.chargeLevel == .good)
            try await central.subscribe(to: characteristic)
            for level: BatteryPowerState.ChargeLevel in [.good, .low, .low, .critical] {
                let status = BatteryLevelStatus(BatteryPowerState(chargeLevel: level))
                try await battery.update(to: status, in: session)
            }
            #expect(try await central.nextUpdate(of: characteristic).power.chargeLevel == .low)
            #expect(try await central.nextUpdate(of: characteristic).power.chargeLevel == .critical)
            #expect(try await central.read(characteristic).power.chargeLevel == .critical)
        }
    }

    @Test func isAskedFor() async throws {
        let battery = BatteryService(status: { BatteryLevelStatus(BatteryPowerState(), identifier: 7) }) {
            BatteryLevel(1)
        }
        let characteristic = try #require(battery.status)
        try await Peripheral("Sensor") { battery }.test { central async throws in
            #expect(try await central.read(characteristic).identifier == 7)
        }
    }

    @Test func isLeftOutWhenNotGiven() async throws {
        let battery = BatteryService(level: BatteryLevel(50))
        #expect(battery.status == nil)
        try await Peripheral("Sensor") { battery }.test { _, session in
            try await battery.update(to: BatteryLevelStatus(BatteryPowerState()), in: session)
        }
    }
}
