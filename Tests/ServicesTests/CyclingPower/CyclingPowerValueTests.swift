import PeripheralCyclingPower
import PeripheralKit
import PeripheralSensorLocation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CyclingPowerValueTests {
    typealias Measurement = CyclingPowerMeasurement

    /// Bytes by hand, after Cycling Power Service 1.1, section 3.2.1: 2 s of a wheel are 4096 steps of 1/2048
    /// s, 2 s of a crank 2048 steps of 1/1024 s.
    static let measurements: [(Measurement, [UInt8])] = [
        (Measurement(watts: 215), [0x00, 0x00, 0xD7, 0x00]),
        (Measurement(watts: -1), [0x00, 0x00, 0xFF, 0xFF]),
        (Measurement(watts: 0, offsetCompensationIndicator: true), [0x00, 0x10, 0x00, 0x00]),
        (Measurement(watts: 1, balance: .init(percent: 50.5)), [0x01, 0x00, 0x01, 0x00, 0x65]),
        (
            Measurement(watts: 1, balance: .init(percent: 100, isOfLeftPedal: true)),
            [0x03, 0x00, 0x01, 0x00, 0xC8]
        ),
        (
            Measurement(watts: 1, accumulatedTorque: .init(newtonMeters: 40.5, isOfCrank: false)),
            [0x04, 0x00, 0x01, 0x00, 0x10, 0x05]
        ),
        (
            Measurement(watts: 1, accumulatedTorque: .init(newtonMeters: 2047.96875, isOfCrank: true)),
            [0x0C, 0x00, 0x01, 0x00, 0xFF, 0xFF]
        ),
        (
            Measurement(watts: 1, wheel: WheelRevolutions(0x0102_0304, at: .seconds(2))),
            [0x10, 0x00, 0x01, 0x00, 0x04, 0x03, 0x02, 0x01, 0x00, 0x10]
        ),
        (
            Measurement(watts: 1, crank: CrankRevolutions(0x0506, at: .seconds(2))),
            [0x20, 0x00, 0x01, 0x00, 0x06, 0x05, 0x00, 0x08]
        ),
        (
            Measurement(watts: 1, forces: .init(maximum: 300, minimum: -20)),
            [0x40, 0x00, 0x01, 0x00, 0x2C, 0x01, 0xEC, 0xFF]
        ),
        (
            Measurement(watts: 1, torques: .init(maximum: 32.5, minimum: -0.03125)),
            [0x80, 0x00, 0x01, 0x00, 0x10, 0x04, 0xFF, 0xFF]
        ),
        // The example of section 3.2.1.9: 0xABC and 0x123 are sent as 0x123ABC.
        (
            Measurement(watts: 1, angles: .init(maximum: 0xABC, minimum: 0x123)),
            [0x00, 0x01, 0x01, 0x00, 0xBC, 0x3A, 0x12]
        ),
        (Measurement(watts: 1, topDeadSpotAngle: 359), [0x00, 0x02, 0x01, 0x00, 0x67, 0x01]),
        (Measurement(watts: 1, bottomDeadSpotAngle: 180), [0x00, 0x04, 0x01, 0x00, 0xB4, 0x00]),
        (Measurement(watts: 1, kilojoules: 0xFFFE), [0x00, 0x08, 0x01, 0x00, 0xFE, 0xFF]),
        (full, fullBytes),
    ]

    /// All that one sensor can measure, of forces.
    static let full = Measurement(
        watts: .min,
        balance: .init(percent: 0.5, isOfLeftPedal: true),
        accumulatedTorque: .init(newtonMeters: 1, isOfCrank: true),
        wheel: WheelRevolutions(2, at: .seconds(3)),
        crank: CrankRevolutions(4, at: .seconds(5)),
        forces: .init(maximum: 6, minimum: 7),
        angles: .init(maximum: 8, minimum: 9),
        topDeadSpotAngle: 10,
        bottomDeadSpotAngle: 11,
        kilojoules: 12,
        offsetCompensationIndicator: true
    )

    static let fullBytes: [UInt8] = [
        0x7F, 0x1F, 0x00, 0x80, 0x01, 0x20, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x18, 0x04, 0x00, 0x00, 0x14,
        0x06, 0x00, 0x07, 0x00, 0x08, 0x90, 0x00, 0x0A, 0x00, 0x0B, 0x00, 0x0C, 0x00,
    ]

    @Test(arguments: measurements)
    func measurementsAreAsSpecified(measurement: Measurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try Measurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            (-1, 0, 0, -32, -1, 0), (.nan, 0, 0, 0, 0, 0), (0.3, 1, 10, 10, 0, 0),
            (5000, 200, 28_928, .max, 5000, 0xFFF), (.infinity, 200, 0, .max, .max, 0xFFF),
            (-.infinity, 0, 0, .min, .min, 0),
        ] as [(Double, UInt8, UInt16, Int16, Int16, UInt32)]
    )
    func theNearestThatCanBeToldIsSent(
        value: Double,
        balance: UInt8,
        torque: UInt16,
        extremeTorque: Int16,
        force: Int16,
        angle: UInt32
    ) {
        let both = Measurement.Extremes(maximum: value, minimum: value)
        let measurement = Measurement(
            watts: 0,
            balance: .init(percent: value),
            accumulatedTorque: .init(newtonMeters: value, isOfCrank: false),
            forces: both,
            torques: both,
            angles: both
        )
        let angles = UInt24(clamping: angle | angle << 12).gattBytes
        let extremes = force.gattBytes + force.gattBytes + extremeTorque.gattBytes + extremeTorque.gattBytes
        let expected: [UInt8] = [0xC5, 0x01, 0x00, 0x00, balance] + torque.gattBytes + extremes + angles
        #expect(measurement.gattBytes == expected)
    }

    @Test func noPedalHasMoreThanAll() throws {
        let measurement = try Measurement(gattBytes: [0x03, 0x00, 0x01, 0x00, 0xC9])
        #expect(measurement.balance?.percent == 100)
        #expect(measurement.balance?.isOfLeftPedal == true)
    }

    /// Section 3.2.1.5: the time of the wheel begins again every 32 s.
    @Test func theTimeOfTheWheelBeginsAnewEvery32Seconds() {
        let measurement = Measurement(watts: 0, wheel: WheelRevolutions(0, at: .seconds(33)))
        #expect(measurement.gattBytes == [0x10, 0x00, 0, 0, 0, 0, 0, 0, 0x00, 0x08])
    }

    @Test func reservedFlagsAreIgnored() throws {
        #expect(try Measurement(gattBytes: [0x00, 0xE0, 0x02, 0x00]) == Measurement(watts: 2))
    }

    @Test(
        arguments: [
            [], [0x00, 0x00, 0x01], [0x01, 0x00, 0x01, 0x00], [0x00, 0x00, 0x01, 0x00, 0x00],
            [0x00, 0x01, 0x01, 0x00, 0x00, 0x00],
        ] as [[UInt8]]
    )
    func otherLengthsAreRefused(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try Measurement(gattBytes: bytes) }
    }

    /// Bytes by hand, after section 3.5.1.
    static let vectors: [(CyclingPowerVector, [UInt8])] = [
        (CyclingPowerVector(), [0x00]),
        (CyclingPowerVector(forces: [1, -2], direction: .lateral), [0x34, 0x01, 0x00, 0xFE, 0xFF]),
        (CyclingPowerVector(torques: [32], direction: .radial), [0x28, 0x20, 0x00]),
        (
            CyclingPowerVector(
                forces: [.max, .min],
                crank: CrankRevolutions(3, at: .seconds(1)),
                firstAngle: 359,
                direction: .tangential
            ),
            [0x17, 0x03, 0x00, 0x00, 0x04, 0x67, 0x01, 0xFF, 0x7F, 0x00, 0x80]
        ),
    ]

    @Test(arguments: [[0x04], [0x08]] as [[UInt8]])
    func aVectorMayBeEmpty(bytes: [UInt8]) throws {
        #expect(try CyclingPowerVector(gattBytes: bytes) == CyclingPowerVector())
    }

    @Test(arguments: vectors)
    func vectorsAreAsSpecified(vector: CyclingPowerVector, bytes: [UInt8]) throws {
        #expect(vector.gattBytes == bytes)
        #expect(try CyclingPowerVector(gattBytes: bytes) == vector)
    }

    @Test(arguments: [[], [0x01, 0, 0, 0], [0x04, 0], [0x0C, 0, 0], [0x00, 0]] as [[UInt8]])
    func whatIsNoVectorIsRefused(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try CyclingPowerVector(gattBytes: bytes) }
    }

    /// Bytes by hand, after section 3.4.
    static let requests: [(CyclingPowerRequest, [UInt8])] = [
        (.setWheelRevolutions(0x0102_0304), [0x01, 0x04, 0x03, 0x02, 0x01]),
        (.updateSensorLocation(.spider), [0x02, 0x0F]),
        (.mask([.pedalPowerBalance, .accumulatedEnergy]), [0x0D, 0x01, 0x01]),
        (.init(operation: .startEnhancedOffsetCompensation), [0x10]),
    ]

    @Test(arguments: requests)
    func requestsAreAsSpecified(request: CyclingPowerRequest, bytes: [UInt8]) throws {
        #expect(request.gattBytes == bytes)
        #expect(try CyclingPowerRequest(gattBytes: bytes) == request)
    }

    @Test(arguments: [[], [0x20], [0x20, 0x01], [0x10, 0x01, 0x01]] as [[UInt8]])
    func whatIsNoResponseIsRefused(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try CyclingPowerResponse(gattBytes: bytes) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(Measurement.self, seed: seed, count: 0...34)
        try fuzz(CyclingPowerVector.self, seed: seed, count: 0...20)
        try fuzz(CyclingPowerFeature.self, seed: seed, count: 0...5)
        try fuzz(CyclingPowerRequest.self, seed: seed, count: 0...6)
        try fuzz(CyclingPowerResponse.self, seed: seed, count: 0...20)
    }
}
