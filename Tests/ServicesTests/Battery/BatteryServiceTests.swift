import PeripheralBattery
import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BatteryLevelTests {
    @Test(arguments: [
        (-1, 0), (0, 0), (1, 1), (99, 99), (100, 100), (101, 100), (Int.max, 100), (Int.min, 0),
    ])
    func isAPercentage(number: Int, percent: Int) {
        #expect(Int(BatteryLevel(number).percent) == percent)
        #expect(BatteryLevel(number).gattBytes == [UInt8(percent)])
    }

    @Test func takesEveryKindOfInteger() {
        #expect(BatteryLevel(UInt64.max) == BatteryLevel(100))
        #expect(BatteryLevel(Int8.min) == BatteryLevel(0))
    }

    @Test func hasAnOrderAndAText() {
        #expect(BatteryLevel(19) < BatteryLevel(20))
        #expect(BatteryLevel(87).description == "87 %")
    }

    @Test func decodesPercentagesAlone() throws {
        for byte in 0...100 as ClosedRange<UInt8> {
            #expect(try BatteryLevel(gattBytes: [byte]).percent == byte)
        }
        for byte in 101...255 as ClosedRange<UInt8> {
            let error = #expect(throws: GATTDecodingError.self) { try BatteryLevel(gattBytes: [byte]) }
            #expect(error?.code == .invalidValue)
        }
        for bytes: [UInt8] in [[], [50, 50]] {
            #expect(throws: GATTDecodingError.self) { try BatteryLevel(gattBytes: bytes) }
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BatteryServiceTests {
    @Test func declaresTheLevel() async throws {
        try await Peripheral("Sensor") { BatteryService(level: BatteryLevel(50)) }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180F, uuid: 0x2A19, properties: [.read, .notify])
                ]
            )
        }
    }

    @Test func keepsTheLevel() async throws {
        let battery = BatteryService(level: BatteryLevel(50))
        try await Peripheral("Sensor") { battery }.test { central, session in
            #expect(try await central.read(battery.level) == BatteryLevel(50))
            try await battery.update(to: BatteryLevel(49), in: session)
            #expect(try await central.read(battery.level) == BatteryLevel(49))
        }
    }

    @Test func notifiesOfChangesAlone() async throws {
        let battery = BatteryService(level: BatteryLevel(50))
        try await Peripheral("Sensor") { battery }.test { central, session in
            try await central.subscribe(to: battery.level)
            for percent in [50, 49, 49, 48] {
                try await battery.update(to: BatteryLevel(percent), in: session)
            }
            #expect(try await central.nextUpdate(of: battery.level) == BatteryLevel(49))
            #expect(try await central.nextUpdate(of: battery.level) == BatteryLevel(48))
        }
    }

    @Test func asksForTheLevel() async throws {
        let battery = BatteryService { BatteryLevel(33) }
        try await Peripheral("Sensor") { battery }.test { central, session in
            #expect(try await central.read(battery.level) == BatteryLevel(33))
            try await central.subscribe(to: battery.level)
            for _ in 0..<2 {
                try await battery.update(to: BatteryLevel(32), in: session)
                #expect(try await central.nextUpdate(of: battery.level) == BatteryLevel(32))
            }
            #expect(try await central.read(battery.level) == BatteryLevel(33))
        }
    }

    @Test func tellsTheCentralWhenTheGaugeFails() async throws {
        let battery = BatteryService { throw ATTError.insufficientResources }
        try await Peripheral("Sensor") { battery }.test(as: .specification) { central in
            await #expect(throws: ATTError.insufficientResources) {
                try await central.read(battery.level)
            }
        }
    }
}
