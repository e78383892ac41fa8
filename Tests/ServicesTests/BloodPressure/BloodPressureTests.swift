import PeripheralBloodPressure
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BloodPressureMeasurementTests {
    /// Blood Pressure Service 1.0, section 3.1: flags, three pressures, time, pulse, user, status.
    static let encodings: [(BloodPressureMeasurement, [UInt8])] = [
        (
            BloodPressureMeasurement(systolic: 120, diastolic: 80),
            [0x00, 0x78, 0x00, 0x50, 0x00, 0xFF, 0x07]
        ),
        (
            BloodPressureMeasurement(systolic: 16.1, diastolic: 10.7, meanArterial: 12.5, unit: .kPa),
            [0x01, 0xA1, 0xF0, 0x6B, 0xF0, 0x7D, 0xF0]
        ),
        (
            BloodPressureMeasurement(
                systolic: 120,
                diastolic: 80,
                meanArterial: 93,
                timestamp: DateTime(year: 2026, month: 11, day: 22, hour: 1, minute: 2, second: 3),
                pulseRate: 64,
                userID: 255,
                status: [.irregularPulse, .pulseRateBelowRange, .improperPosition]
            ),
            [
                0x1E, 0x78, 0x00, 0x50, 0x00, 0x5D, 0x00, 0xEA, 0x07, 11, 22, 1, 2, 3, 0x40, 0x00, 0xFF, 0x34,
                0x00,
            ]
        ),
        (
            BloodPressureMeasurement(systolic: 120, diastolic: 80, status: []),
            [0x10, 0x78, 0x00, 0x50, 0x00, 0xFF, 0x07, 0x00, 0x00]
        ),
    ]

    @Test(arguments: encodings)
    func hasItsBytes(measurement: BloodPressureMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try BloodPressureMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            [], [0, 0x78, 0x00, 0x50, 0x00, 0xFF], [0, 0x78, 0x00, 0x50, 0x00, 0xFF, 0x07, 0],
            [8, 0x78, 0x00, 0x50, 0x00, 0xFF, 0x07], [0x10, 0x78, 0x00, 0x50, 0x00, 0xFF, 0x07, 0],
        ] as [[UInt8]]
    )
    func refuses(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try BloodPressureMeasurement(gattBytes: bytes) }
    }

    @Test func tellsThePressureOfTheCuff() throws {
        let pressure = IntermediateCuffPressure(150, pulseRate: 60)
        let bytes: [UInt8] = [0x04, 0x96, 0x00, 0xFF, 0x07, 0xFF, 0x07, 0x3C, 0x00]
        #expect(pressure.gattBytes == bytes)
        #expect(try IntermediateCuffPressure(gattBytes: bytes) == pressure)
        #expect(
            try IntermediateCuffPressure(gattBytes: [0, 0x96, 0, 1, 0, 2, 0]) == IntermediateCuffPressure(150)
        )
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(BloodPressureMeasurement.self, seed: seed, count: 0...20)
        try fuzz(IntermediateCuffPressure.self, seed: seed, count: 0...20)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BloodPressureServiceTests {
    @Test(
        arguments: [
            ([], false, [0x00, 0x00]), (.bodyMovement, false, [0x01, 0x00]),
            (.cuffTooLoose, false, [0x02, 0x00]),
            (.irregularPulse, false, [0x04, 0x00]), (.pulseRateAboveRange, false, [0x08, 0x00]),
            (.pulseRateBelowRange, false, [0x08, 0x00]), (.improperPosition, false, [0x10, 0x00]),
            ([], true, [0x20, 0x00]),
        ] as [(BloodPressureStatus, Bool, [UInt8])]
    )
    func tellsWhatItDetects(status: BloodPressureStatus, bonds: Bool, bytes: [UInt8]) async throws {
        let service = BloodPressureService(detecting: status, supportsMultipleBonds: bonds, security: .open)
        try await Peripheral("Cuff") { service }.test { central async throws in
            #expect(try await central.read(service.feature).gattBytes == bytes)
        }
    }

    @Test func sendsPressures() async throws {
        let service = BloodPressureService(
            detecting: [.irregularPulse, .pulseRateBelowRange, .improperPosition],
            hasIntermediateCuffPressure: true,
            security: .open
        )
        let intermediate = try #require(service.intermediateCuffPressure)
        try await Peripheral("Cuff") { service }.test(mtu: 23) { central, session in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1810, uuid: 0x2A35, properties: .indicate),
                    DeclaredCharacteristic(service: 0x1810, uuid: 0x2A36, properties: .notify),
                    DeclaredCharacteristic(service: 0x1810, uuid: 0x2A49, properties: .read),
                ]
            )
            try await central.subscribe(to: intermediate)
            try await central.subscribe(to: service.measurement)
            try await service.notify(IntermediateCuffPressure(150), in: session)
            #expect(try await central.nextUpdate(of: intermediate).pressure == 150)
            for (measurement, _) in BloodPressureMeasurementTests.encodings {
                try await service.indicate(measurement, in: session)
                #expect(try await central.nextUpdate(of: service.measurement) == measurement)
            }
        }
    }

    @Test(
        arguments: [
            ([], nil), (.cuffTooLoose, []), (.bodyMovement, .bodyMovement),
        ] as [(BloodPressureStatus, BloodPressureStatus?)]
    )
    func leavesOutWhatItDoesNotDetect(detected: BloodPressureStatus, sent: BloodPressureStatus?) async throws
    {
        let service = BloodPressureService(
            detecting: detected,
            hasIntermediateCuffPressure: true,
            security: .open
        )
        let intermediate = try #require(service.intermediateCuffPressure)
        let status: BloodPressureStatus = [.bodyMovement, .irregularPulse]
        try await Peripheral("Cuff") { service }.test { central, session in
            try await central.subscribe(to: intermediate)
            try await central.subscribe(to: service.measurement)
            try await service.notify(IntermediateCuffPressure(150, status: status), in: session)
            #expect(try await central.nextUpdate(of: intermediate).status == sent)
            try await service.indicate(
                BloodPressureMeasurement(systolic: 120, diastolic: 80, status: status),
                in: session
            )
            #expect(try await central.nextUpdate(of: service.measurement).status == sent)
        }
    }

    @Test func sendsNoPressureOfTheCuffThatIsNotDeclared() async throws {
        let service = BloodPressureService(security: .open)
        try await Peripheral("Cuff") { service }.test { central, session in
            try await central.subscribe(to: service.measurement)
            try await service.notify(IntermediateCuffPressure(150), in: session)
            try await service.indicate(BloodPressureMeasurement(systolic: 120, diastolic: 80), in: session)
            #expect(try await central.nextUpdate(of: service.measurement).systolic == 120)
        }
    }
}
