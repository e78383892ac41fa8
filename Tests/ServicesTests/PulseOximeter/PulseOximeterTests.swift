import PeripheralKit
import PeripheralPulseOximeter
import PeripheralRecordAccess
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PulseOximeterTests {
    static let time = DateTime.november(22, hour: 7, minute: 30, second: 5)
    static let values = OxygenSaturation(percent: 97, pulseRate: 63)

    /// Bytes by hand, after Pulse Oximeter Service 1.0.1, section 3.1.
    static let spotChecks: [(SpotCheckMeasurement, [UInt8])] = [
        (SpotCheckMeasurement(values), [0x00, 0x61, 0x00, 0x3F, 0x00]),
        (
            SpotCheckMeasurement(
                values,
                time: time,
                isClockUnset: true,
                status: [.validated, .invalid],
                faults: [.lowPerfusion, .sensorDisconnected],
                pulseAmplitudeIndex: 2.5
            ),
            [
                0x1F, 0x61, 0x00, 0x3F, 0x00, 0xEA, 0x07, 11, 22, 7, 30, 5, 0x80, 0x80, 0x20, 0x80, 0x00,
                0x19,
                0xF0,
            ]
        ),
        (
            SpotCheckMeasurement(OxygenSaturation(percent: .nan, pulseRate: .nan)),
            [0x00, 0xFF, 0x07, 0xFF, 0x07]
        ),
    ]

    @Test(arguments: spotChecks)
    func spotChecksAreAsSpecified(measurement: SpotCheckMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try SpotCheckMeasurement(gattBytes: bytes) == measurement)
    }

    /// Bytes by hand, after Pulse Oximeter Service 1.0.1, section 3.2.
    static let continuous: [(ContinuousMeasurement, [UInt8])] = [
        (ContinuousMeasurement(values), [0x00, 0x61, 0x00, 0x3F, 0x00]),
        (
            ContinuousMeasurement(
                values,
                fast: OxygenSaturation(percent: 96, pulseRate: 64),
                slow: OxygenSaturation(percent: 98, pulseRate: 62),
                status: .measurementOngoing,
                faults: .extendedDisplayUpdate,
                pulseAmplitudeIndex: 1
            ),
            [
                0x1F, 0x61, 0x00, 0x3F, 0x00, 0x60, 0x00, 0x40, 0x00, 0x62, 0x00, 0x3E, 0x00, 0x20, 0x00,
                0x01,
                0x00, 0x00, 0x01, 0x00,
            ]
        ),
    ]

    @Test(arguments: continuous)
    func continuousMeasurementsAreAsSpecified(measurement: ContinuousMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try ContinuousMeasurement(gattBytes: bytes) == measurement)
    }

    /// Bytes by hand, after Pulse Oximeter Service 1.0.1, section 3.3.
    @Test(
        arguments: [
            (
                PulseOximeterService(continuous: [], security: .open),
                [0x00, 0x00]
            ),
            (
                PulseOximeterService(
                    spotCheck: [.time],
                    continuous: [.fast, .pulseAmplitudeIndex],
                    supportsMultipleBonds: true,
                    security: .open
                ),
                [0xD8, 0x00]
            ),
            (
                PulseOximeterService(
                    spotCheck: [.pulseAmplitudeIndex, .fast],
                    continuous: [.slow, .time],
                    status: [.invalid],
                    faults: [.lowPerfusion],
                    security: .open
                ),
                [0x63, 0x00, 0x00, 0x80, 0x20, 0x00, 0x00]
            ),
            (
                PulseOximeterService(
                    spotCheck: [],
                    status: [.invalid],
                    store: .init(records: { [] }, remove: { _ in }),
                    security: .open
                ),
                [0x05, 0x00, 0x00, 0x82]
            ),
            (
                PulseOximeterService(
                    spotCheck: [],
                    store: .init(records: { [] }, remove: { _ in }),
                    security: .open
                ),
                [0x05, 0x00, 0x00, 0x02]
            ),
        ] as [(PulseOximeterService, [UInt8])]
    )
    func featuresFollowFromTheDeclaration(oximeter: PulseOximeterService, bytes: [UInt8]) async throws {
        try await Peripheral("Oximeter") { oximeter }.test { central in
            let features = try await central.read(oximeter.features)
            #expect(features.gattBytes == bytes)
        }
    }

    @Test func whatIsNotDeclaredIsNotSent() async throws {
        let oximeter = PulseOximeterService(
            spotCheck: [],
            continuous: [.slow],
            status: [.validated],
            security: .open
        )
        let continuous = try #require(oximeter.continuous)
        let spotCheck = try #require(oximeter.spotCheck)
        #expect(oximeter.recordAccess == nil)
        try await Peripheral("Oximeter") { oximeter }.test { central, session in
            try await central.subscribe(to: continuous)
            try await central.subscribe(to: spotCheck)
            let all = try ContinuousMeasurement(gattBytes: Self.continuous[1].1)
            try await oximeter.notify(all, in: session)
            let received = try await central.nextUpdate(of: continuous)
            #expect(received == ContinuousMeasurement(Self.values, slow: all.slow, status: []))
            try await oximeter.indicate(Self.spotChecks[1].0, in: session)
            let single = try await central.nextUpdate(of: spotCheck)
            #expect(single == SpotCheckMeasurement(Self.values, status: .validated))
        }
    }

    @Test func storedMeasurementsSaySo() async throws {
        let stored = [97, 96].map { percent in
            SpotCheckMeasurement(
                OxygenSaturation(percent: MedicalShortFloat(percent), pulseRate: 60),
                time: Self.time,
                status: .validated
            )
        }
        let oximeter = PulseOximeterService(
            spotCheck: [.time],
            status: [.validated],
            store: .init(records: { stored }, remove: { _ in }),
            security: .open
        )
        let spotCheck = try #require(oximeter.spotCheck)
        let recordAccess = try #require(oximeter.recordAccess)
        try await Peripheral("Oximeter") { oximeter }.test(as: .specification) { central in
            try await central.subscribe(to: recordAccess)
            await #expect(throws: ATTError.clientCharacteristicConfigurationImproperlyConfigured) {
                try await central.write(RecordAccessRequest.report(.all), to: recordAccess)
            }
            try await central.subscribe(to: spotCheck)
            try await central.write(RecordAccessRequest.report(.all), to: recordAccess)
            for measurement in stored {
                var expected = measurement
                expected.status = [.validated, .stored]
                let received = try await central.nextUpdate().update
                #expect(received == ReceivedUpdate(kind: .indication, value: expected.gattBytes))
            }
            let response = try await central.nextUpdate().update.value
            #expect(response == RecordAccessResponse.result(.success, of: .report).gattBytes)
            let refused = try await central.request(RecordAccessRequest.report(.last), of: recordAccess)
            #expect(refused == .result(.operatorNotSupported, of: .report))
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(SpotCheckMeasurement.self, seed: seed, count: 0...24)
        try fuzz(ContinuousMeasurement.self, seed: seed, count: 0...24)
        try fuzz(PulseOximeterFeatures.self, seed: seed, count: 0...10)
    }
}
