import PeripheralBodyComposition
import PeripheralKit
import PeripheralTesting
import PeripheralWeightScale
import TestSupport
import Testing

private let time = DateTime(year: 2026, month: 11, day: 22, hour: 1, minute: 2, second: 3)
private let timeBytes: [UInt8] = [0xEA, 0x07, 11, 22, 1, 2, 3]

@Suite(.timeLimit(.minutes(1)))
struct WeightScaleTests {
    /// Weight Scale Service 1.0, section 3.2: flags, weight, time, user, body mass index and height.
    @Test(
        arguments: [
            (WeightMeasurement(kilograms: 72.5), [0x00, 0xA4, 0x38]),
            (WeightMeasurement(pounds: 160.01), [0x01, 0x81, 0x3E]),
            (
                WeightMeasurement(kilograms: nil, timestamp: time, userID: 255),
                [0x06, 0xFF, 0xFF] + timeBytes + [255]
            ),
            (
                WeightMeasurement(
                    kilograms: 0.005,
                    timestamp: time,
                    userID: 1,
                    build: WeightMeasurement.Build(bodyMassIndex: 22.9, height: 1.78)
                ),
                [0x0E, 0x01, 0x00] + timeBytes + [1, 0xE5, 0x00, 0xF4, 0x06]
            ),
            (
                WeightMeasurement(pounds: 1, build: WeightMeasurement.Build(bodyMassIndex: 0, height: 70.1)),
                [0x09, 0x64, 0x00, 0x00, 0x00, 0xBD, 0x02]
            ),
        ] as [(WeightMeasurement, [UInt8])]
    )
    func hasItsBytes(measurement: WeightMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try WeightMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            (-1, [0, 0, 0]), (400, [0, 0xFE, 0xFF]), (Double.nan, [0, 0xFF, 0xFF]),
            (Double.infinity, [0, 0xFE, 0xFF]),
        ] as [(Double, [UInt8])]
    )
    func clampsWhatCannotBe(kilograms: Double, bytes: [UInt8]) {
        #expect(WeightMeasurement(kilograms: kilograms).gattBytes == bytes)
    }

    @Test func tellsNothingOfAWeightThatIsNone() throws {
        let build = WeightMeasurement.Build(bodyMassIndex: 22.9, height: 1.78)
        #expect(WeightMeasurement(kilograms: nil, build: build).gattBytes == [0x00, 0xFF, 0xFF])
        let measurement = try WeightMeasurement(gattBytes: [0x08, 0xFF, 0xFF, 1, 0, 1, 0])
        #expect(measurement == WeightMeasurement(kilograms: nil))
    }

    /// Weight Scale Service 1.0, section 3.1.
    @Test(
        arguments: [
            (WeightScaleFeature(), [0, 0, 0, 0]),
            (
                WeightScaleFeature(
                    hasTimestamps: true,
                    hasUsers: true,
                    hasBuild: true,
                    weightResolution: .kilograms0_005,
                    heightResolution: .meters0_001
                ),
                [0xBF, 0x01, 0, 0]
            ),
            (WeightScaleFeature(weightResolution: .kilograms0_5), [0x08, 0, 0, 0]),
            (WeightScaleFeature(heightResolution: .meters0_01), [0x80, 0, 0, 0]),
        ] as [(WeightScaleFeature, [UInt8])]
    )
    func tellsItsFeatures(feature: WeightScaleFeature, bytes: [UInt8]) throws {
        #expect(feature.gattBytes == bytes)
        #expect(try WeightScaleFeature(gattBytes: bytes) == feature)
    }

    @Test(arguments: [[0x40, 0, 0, 0], [0, 0x02, 0, 0], [0, 0, 0]] as [[UInt8]])
    func refusesFeatures(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try WeightScaleFeature(gattBytes: bytes) }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(WeightMeasurement.self, seed: seed, count: 0...16)
        try fuzz(WeightScaleFeature.self, seed: seed, count: 3...5)
        try fuzz(BodyCompositionMeasurement.self, seed: seed, count: 0...31)
        try fuzz(BodyCompositionFeature.self, seed: seed, count: 3...5)
    }

    @Test func sendsWhatTheFeaturesTell() async throws {
        let composition = BodyCompositionService(security: .open)
        let scale = WeightScaleService(
            WeightScaleFeature(hasUsers: true),
            including: composition,
            security: .open
        )
        try await Peripheral("Scale") {
            composition; scale
        }.test(mtu: 23) { central, session in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x181B, uuid: 0x2A9B, properties: .read),
                    DeclaredCharacteristic(service: 0x181B, uuid: 0x2A9C, properties: .indicate),
                    DeclaredCharacteristic(service: 0x181D, uuid: 0x2A9D, properties: .indicate),
                    DeclaredCharacteristic(service: 0x181D, uuid: 0x2A9E, properties: .read),
                ]
            )
            #expect(try await central.read(scale.feature).hasUsers)
            try await central.subscribe(to: scale.measurement)
            let build = WeightMeasurement.Build(bodyMassIndex: 22.9, height: 1.78)
            let measurement = WeightMeasurement(kilograms: 1, timestamp: time, userID: 3, build: build)
            try await scale.indicate(measurement, in: session)
            let received = try await central.nextUpdate(of: scale.measurement)
            #expect(received == WeightMeasurement(kilograms: 1, userID: 3))
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BodyCompositionTests {
    static let everything = BodyCompositionMeasurement(
        bodyFat: 21.4,
        timestamp: time,
        userID: 2,
        basalMetabolism: 0x1234,
        muscle: 40.1,
        muscleMass: 30.005,
        fatFreeMass: 57,
        softLeanMass: 54.5,
        bodyWaterMass: 40,
        impedance: 512.3,
        weight: 72.5,
        height: 1.78
    )

    /// Body Composition Service 1.0, section 3.2.
    @Test(
        arguments: [
            (BodyCompositionMeasurement(bodyFat: 21.4), [0x00, 0x00, 0xD6, 0x00]),
            (
                BodyCompositionMeasurement(bodyFat: 0, units: .imperial, weight: 160.01, height: 70.1),
                [0x01, 0x0C, 0x00, 0x00, 0x81, 0x3E, 0xBD, 0x02]
            ),
            (
                everything,
                [0xFE, 0x0F, 0xD6, 0x00] + timeBytes + [
                    2, 0x34, 0x12, 0x91, 0x01, 0x71, 0x17, 0x88, 0x2C, 0x94, 0x2A, 0x40, 0x1F, 0x03, 0x14,
                    0xA4,
                    0x38, 0xF4, 0x06,
                ]
            ),
            (
                BodyCompositionMeasurement(bodyFat: nil, timestamp: time, userID: 255),
                [0x06, 0x00, 0xFF, 0xFF] + timeBytes + [255]
            ),
        ] as [(BodyCompositionMeasurement, [UInt8])]
    )
    func hasItsBytes(measurement: BodyCompositionMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try BodyCompositionMeasurement(gattBytes: bytes) == measurement)
    }

    @Test func tellsNothingOfAMeasurementThatIsNone() throws {
        #expect(
            BodyCompositionMeasurement(bodyFat: .nan, weight: 1).gattBytes == [0x00, 0x00, 0xFF, 0xFF]
        )
        let failed = BodyCompositionMeasurement(bodyFat: nil, impedance: 3, weight: 1)
        #expect(failed.gattBytes == [0x00, 0x00, 0xFF, 0xFF])
        let received = try BodyCompositionMeasurement(gattBytes: [0x00, 0x04, 0xFF, 0xFF, 1, 0])
        #expect(received == BodyCompositionMeasurement(bodyFat: nil))
    }

    /// Body Composition Service 1.0, section 3.1.
    @Test(
        arguments: [
            (BodyCompositionFeature(), [0, 0, 0, 0]),
            (BodyCompositionFeature([.timestamp, .height]), [0x01, 0x04, 0, 0]),
            (
                BodyCompositionFeature(
                    BodyCompositionFeature.Content(rawValue: .max),
                    massResolution: .kilograms0_005,
                    heightResolution: .meters0_001
                ),
                [0xFF, 0xBF, 0x01, 0]
            ),
        ] as [(BodyCompositionFeature, [UInt8])]
    )
    func tellsItsFeatures(feature: BodyCompositionFeature, bytes: [UInt8]) throws {
        #expect(feature.gattBytes == bytes)
        #expect(try BodyCompositionFeature(gattBytes: bytes) == feature)
    }

    @Test(arguments: [[0, 0x40, 0, 0], [0, 0, 0x02, 0]] as [[UInt8]])
    func refusesFeatures(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try BodyCompositionFeature(gattBytes: bytes) }
    }

    @Test(arguments: [(23, 2), (32, 2), (33, 1), (517, 1)])
    func dividesWhatDoesNotFit(mtu: Int, count: Int) async throws {
        let all = BodyCompositionFeature(BodyCompositionFeature.Content(rawValue: .max))
        let service = BodyCompositionService(all, security: .open)
        try await Peripheral("Scale") { service }.test(mtu: mtu) { central, session in
            try await central.subscribe(to: service.measurement)
            try await service.indicate(Self.everything, in: session)
            let first = try await central.nextUpdate(of: service.measurement)
            guard count == 2 else {
                #expect(first == Self.everything)
                return
            }
            let second = try await central.nextUpdate(of: service.measurement)
            // Both parts contain the body fat, and say that there are two parts. Only the first part contains
            // the time and the user.
            #expect(
                first.gattBytes == [0x7E, 0x10, 0xD6, 0x00] + timeBytes + [
                    2, 0x34, 0x12, 0x91, 0x01, 0x71, 0x17, 0x88, 0x2C,
                ]
            )
            #expect(
                second.gattBytes == [
                    0x80, 0x1F, 0xD6, 0x00, 0x94, 0x2A, 0x40, 0x1F, 0x03, 0x14, 0xA4, 0x38, 0xF4, 0x06,
                ]
            )
            #expect(first.isPart)
            #expect(second.isPart)
        }
    }

    @Test func sendsWhatTheFeaturesTell() async throws {
        let service = BodyCompositionService(BodyCompositionFeature(.impedance), security: .open)
        try await Peripheral("Scale") { service }.test(mtu: 23) { central, session in
            try await central.subscribe(to: service.measurement)
            try await service.indicate(Self.everything, in: session)
            let received = try await central.nextUpdate(of: service.measurement)
            #expect(received == BodyCompositionMeasurement(bodyFat: 21.4, impedance: 512.3))
        }
    }
}
