import PeripheralKit
import PeripheralRunningSpeedAndCadence
import PeripheralSensorControl
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RunningSpeedAndCadenceTests {
    /// Bytes by hand, after Running Speed and Cadence Service 1.0.1, section 3.1.1.
    static let measurements: [(RSCMeasurement, [UInt8])] = [
        (RSCMeasurement(metersPerSecond: 0, cadence: 0), [0x00, 0x00, 0x00, 0x00]),
        (RSCMeasurement(metersPerSecond: 3.5, cadence: 168, isRunning: true), [0x04, 0x80, 0x03, 0xA8]),
        (
            RSCMeasurement(metersPerSecond: 1, cadence: 90, strideLength: 1.25),
            [0x01, 0x00, 0x01, 0x5A, 0x7D, 0x00]
        ),
        (
            RSCMeasurement(metersPerSecond: 1, cadence: 90, totalDistance: 10_000.5),
            [0x02, 0x00, 0x01, 0x5A, 0xA5, 0x86, 0x01, 0x00]
        ),
        (
            RSCMeasurement(
                metersPerSecond: 65_535.0 / 256,
                cadence: 255,
                strideLength: 655.35,
                totalDistance: 429_496_729.5,
                isRunning: true
            ),
            [0x07, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        ),
    ]

    @Test(arguments: measurements)
    func measurementsAreAsSpecified(measurement: RSCMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try RSCMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            (-1, 0, 0, 0), (.nan, 0, 0, 0), (0.0049, 1, 0, 0), (0.0051, 1, 1, 0), (0.05, 13, 5, 1),
            (1e9, 0xFFFF, 0xFFFF, .max), (.infinity, 0xFFFF, 0xFFFF, .max),
        ] as [(Double, UInt16, UInt16, UInt32)]
    )
    func theNearestThatCanBeToldIsSent(value: Double, speed: UInt16, stride: UInt16, distance: UInt32) {
        let measurement = RSCMeasurement(
            metersPerSecond: value,
            cadence: 1,
            strideLength: value,
            totalDistance: value
        )
        let instant: [UInt8] = [0x03] + speed.gattBytes + [0x01]
        #expect(measurement.gattBytes == instant + stride.gattBytes + distance.gattBytes)
    }

    @Test func reservedFlagsAreIgnored() throws {
        #expect(
            try RSCMeasurement(gattBytes: [0xF8, 0x00, 0x01, 0x02])
                == RSCMeasurement(metersPerSecond: 1, cadence: 2)
        )
    }

    @Test(
        arguments: [
            [], [0x00, 0, 0], [0x01, 0, 0, 0, 0], [0x02, 0, 0, 0, 0, 0, 0], [0x00, 0, 0, 0, 0],
        ] as [[UInt8]]
    )
    func otherLengthsAreRefused(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try RSCMeasurement(gattBytes: bytes) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(RSCMeasurement.self, seed: seed, count: 0...11)
        try fuzz(RSCFeature.self, seed: seed, count: 0...3)
    }

    @Test func nothingOptionalIsDeclaredUnasked() async throws {
        let running = RunningSpeedAndCadenceService()
        #expect(running.sensorLocation == nil)
        #expect(running.controlPoint == nil)
        try await Peripheral("Foot pod") { running }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1814, uuid: 0x2A53, properties: .notify),
                    DeclaredCharacteristic(service: 0x1814, uuid: 0x2A54, properties: .read),
                ]
            )
            #expect(try await central.read(running.feature) == [])
        }
    }

    @Test func everythingIsDeclaredThatIsGiven() async throws {
        let running = RunningSpeedAndCadenceService(
            reportsStrideLength: true,
            reportsRunning: true,
            location: .movable(among: [.hip], current: { .hip }, move: { _ in }),
            onSetTotalDistance: { _ in },
            onCalibrate: {}
        )
        try await Peripheral("Foot pod") { running }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1814, uuid: 0x2A53, properties: .notify),
                    DeclaredCharacteristic(service: 0x1814, uuid: 0x2A54, properties: .read),
                    DeclaredCharacteristic(service: 0x1814, uuid: 0x2A5D, properties: .read),
                    DeclaredCharacteristic(service: 0x1814, uuid: 0x2A55, properties: [.write, .indicate]),
                ]
            )
            #expect(try await central.read(running.feature).rawValue == 0x001F)
        }
    }

    /// Section 3.2: a bit for each of what is given, and no other.
    @Test(
        arguments: [
            (RunningSpeedAndCadenceService(reportsStrideLength: true), 0x01),
            (RunningSpeedAndCadenceService(onSetTotalDistance: { _ in }), 0x02),
            (RunningSpeedAndCadenceService(reportsRunning: true), 0x04),
            (RunningSpeedAndCadenceService(onCalibrate: {}), 0x08),
            (RunningSpeedAndCadenceService(location: .fixed(.hip)), 0x00),
        ] as [(RunningSpeedAndCadenceService, UInt16)]
    )
    func featuresFollowFromWhatIsGiven(running: RunningSpeedAndCadenceService, bits: UInt16) async throws {
        try await Peripheral("Foot pod") { running }.test { central async throws in
            #expect(try await central.read(running.feature).rawValue == bits)
        }
    }

    @Test(
        arguments: [
            (RunningSpeedAndCadenceService(), RSCMeasurement(metersPerSecond: 2, cadence: 80)),
            (
                RunningSpeedAndCadenceService(reportsStrideLength: true),
                RSCMeasurement(metersPerSecond: 2, cadence: 80, strideLength: 1.5)
            ),
            (
                RunningSpeedAndCadenceService(onSetTotalDistance: { _ in }),
                RSCMeasurement(metersPerSecond: 2, cadence: 80, totalDistance: 1000)
            ),
            (
                RunningSpeedAndCadenceService(reportsRunning: true),
                RSCMeasurement(metersPerSecond: 2, cadence: 80, isRunning: true)
            ),
        ] as [(RunningSpeedAndCadenceService, RSCMeasurement)]
    )
    func measurementsHaveWhatTheFeaturesTellOf(
        running: RunningSpeedAndCadenceService,
        sent: RSCMeasurement
    ) async throws {
        let all = RSCMeasurement(
            metersPerSecond: 2,
            cadence: 80,
            strideLength: 1.5,
            totalDistance: 1000,
            isRunning: true
        )
        try await Peripheral("Foot pod") { running }.test { central, session in
            try await central.subscribe(to: running.measurement)
            try await running.notify(all, in: session)
            #expect(try await central.nextUpdate(of: running.measurement) == sent)
        }
    }

    @Test func aCentralSetsTheDistanceInMeters() async throws {
        let distances = Recorded<Double>()
        let running = RunningSpeedAndCadenceService(onSetTotalDistance: { distances.append($0) })
        let controlPoint = try #require(running.controlPoint)
        try await Peripheral("Foot pod") { running }.test { central, session in
            try await central.subscribe(to: controlPoint)
            let response = try await central.request(
                SensorControlRequest.setCumulativeValue(12_345),
                of: controlPoint
            )
            #expect(response == .init(.success, to: .setCumulativeValue))
            #expect(distances.values == [1234.5])
            try await central.subscribe(to: running.measurement)
            let measurement = RSCMeasurement(metersPerSecond: 2, cadence: 80, totalDistance: 1234.5)
            try await running.notify(measurement, in: session)
            #expect(try await central.nextUpdate(of: running.measurement) == measurement)
        }
    }
}
