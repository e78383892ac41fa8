import PeripheralCyclingSpeedAndCadence
import PeripheralKit
import PeripheralSensorControl
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CyclingSpeedAndCadenceTests {
    /// Bytes by hand, after Cycling Speed and Cadence Service 1.0.1, section 3.1.1: 1.5 s are 1536 steps of
    /// 1/1024 s.
    static let measurements: [(CSCMeasurement, [UInt8])] = [
        (CSCMeasurement(), [0x00]),
        (
            CSCMeasurement(wheel: WheelRevolutions(0x0102_0304, at: .seconds(1.5))),
            [0x01, 0x04, 0x03, 0x02, 0x01, 0x00, 0x06]
        ),
        (CSCMeasurement(crank: CrankRevolutions(0x0506, at: .seconds(63))), [0x02, 0x06, 0x05, 0x00, 0xFC]),
        (
            CSCMeasurement(
                wheel: WheelRevolutions(.max, at: .seconds(65_535) / 1024),
                crank: CrankRevolutions(.max, at: .zero)
            ),
            [0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00]
        ),
    ]

    @Test(arguments: measurements)
    func measurementsAreAsSpecified(measurement: CSCMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try CSCMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            (.seconds(64), 0), (.seconds(65), 1024), (.seconds(86_400 * 365) + .milliseconds(500), 512),
            (.seconds(-1), 0), (.microseconds(488), 0), (.microseconds(489), 1),
            (.seconds(Int64.max), 0xFC00),
        ] as [(Duration, UInt16)]
    )
    func timesBeginAnewEvery64Seconds(time: Duration, steps: UInt16) {
        let measurement = CSCMeasurement(crank: CrankRevolutions(0, at: time))
        #expect(measurement.gattBytes == [0x02, 0x00, 0x00] + steps.gattBytes)
    }

    /// 65 537 turns are 1 on the air: the count begins again after 65 535.
    @Test(arguments: [(65_535, [0xFF, 0xFF]), (65_537, [0x01, 0x00])] as [(Int, [UInt8])])
    func aCountOfTheCrankBeginsAnew(count: Int, bytes: [UInt8]) {
        let crank = CrankRevolutions(truncatingIfNeeded: count, at: .zero)
        #expect(crank.gattBytes == bytes + [0, 0])
    }

    @Test func reservedFlagsAreIgnored() throws {
        #expect(try CSCMeasurement(gattBytes: [0xFC]) == CSCMeasurement())
    }

    @Test(arguments: [[], [0x01, 0, 0, 0, 0, 0], [0x02, 0, 0, 0], [0x00, 0x00]] as [[UInt8]])
    func otherLengthsAreRefused(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try CSCMeasurement(gattBytes: bytes) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(CSCMeasurement.self, seed: seed, count: 0...12)
        try fuzz(CSCFeature.self, seed: seed, count: 0...3)
        try fuzz(SensorLocation.self, seed: seed, count: 0...2)
        try fuzz(SensorControlRequest.self, seed: seed, count: 0...6)
        try fuzz(SensorControlResponse.self, seed: seed, count: 0...20)
    }

    @Test func nothingOptionalIsDeclaredUnasked() async throws {
        let cycling = CyclingSpeedAndCadenceService(crankOnlyAt: nil)
        #expect(cycling.sensorLocation == nil)
        #expect(cycling.controlPoint == nil)
        try await Peripheral("Bike") { cycling }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1816, uuid: 0x2A5B, properties: .notify),
                    DeclaredCharacteristic(service: 0x1816, uuid: 0x2A5C, properties: .read),
                ]
            )
            #expect(try await central.read(cycling.feature) == .crankRevolutions)
        }
    }

    @Test func everythingIsDeclaredThatIsGiven() async throws {
        let cycling = CyclingSpeedAndCadenceService(
            hasCrank: true,
            location: .movable(among: [.chest], current: { .chest }, move: { _ in }),
            onSetWheelRevolutions: { _ in }
        )
        try await Peripheral("Bike") { cycling }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1816, uuid: 0x2A5B, properties: .notify),
                    DeclaredCharacteristic(service: 0x1816, uuid: 0x2A5C, properties: .read),
                    DeclaredCharacteristic(service: 0x1816, uuid: 0x2A5D, properties: .read),
                    DeclaredCharacteristic(service: 0x1816, uuid: 0x2A55, properties: [.write, .indicate]),
                ]
            )
            #expect(
                try await central.read(cycling.feature) == [
                    .wheelRevolutions, .crankRevolutions, .multipleSensorLocations,
                ]
            )
        }
    }

    @Test func aFixedLocationIsRead() async throws {
        let cycling = CyclingSpeedAndCadenceService(crankOnlyAt: .fixed(.rearHub))
        #expect(cycling.controlPoint == nil)
        let location = try #require(cycling.sensorLocation)
        try await Peripheral("Bike") { cycling }.test { central async throws in
            #expect(try await central.read(location) == SensorLocation(rawValue: 13))
            #expect(try await central.read(cycling.feature) == .crankRevolutions)
        }
    }

    @Test(
        arguments: [
            (CyclingSpeedAndCadenceService(hasCrank: true, onSetWheelRevolutions: { _ in }), true, true),
            (CyclingSpeedAndCadenceService(onSetWheelRevolutions: { _ in }), true, false),
            (CyclingSpeedAndCadenceService(crankOnlyAt: nil), false, true),
        ] as [(CyclingSpeedAndCadenceService, Bool, Bool)]
    )
    func measurementsHaveWhatTheFeaturesTellOf(
        cycling: CyclingSpeedAndCadenceService,
        hasWheel: Bool,
        hasCrank: Bool
    ) async throws {
        let wheel = WheelRevolutions(12, at: .seconds(1))
        let crank = CrankRevolutions(17, at: .seconds(2))
        try await Peripheral("Bike") { cycling }.test { central, session in
            try await central.subscribe(to: cycling.measurement)
            try await cycling.notify(CSCMeasurement(wheel: wheel, crank: crank), in: session)
            #expect(
                try await central.nextUpdate(of: cycling.measurement)
                    == CSCMeasurement(wheel: hasWheel ? wheel : nil, crank: hasCrank ? crank : nil)
            )
        }
    }

    @Test func securityIsDemandedOfMeasurementAndControlPoint() async throws {
        let cycling = CyclingSpeedAndCadenceService(security: .encrypted, onSetWheelRevolutions: { _ in })
        let controlPoint = try #require(cycling.controlPoint)
        try await Peripheral("Bike", pairing: .justWorks) { cycling }.test { central async throws in
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.subscribe(to: cycling.measurement)
            }
            await #expect(throws: ATTError.insufficientEncryption) {
                try await central.write(SensorControlRequest.setCumulativeValue(0), to: controlPoint)
            }
            #expect(try await central.read(cycling.feature) == .wheelRevolutions)
        }
    }
}
