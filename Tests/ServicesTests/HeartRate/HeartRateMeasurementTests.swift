import PeripheralHeartRate
import PeripheralKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HeartRateMeasurementTests {
    struct Encoding: CustomTestStringConvertible {
        var name: String
        var measurement: HeartRateMeasurement
        var bytes: [UInt8]

        var testDescription: String { name }
    }

    /// Bytes by hand, after Heart Rate Service 1.0, section 3.1.
    static let encodings = [
        Encoding(name: "least", measurement: HeartRateMeasurement(bpm: 0), bytes: [0x00, 0x00]),
        Encoding(name: "one byte", measurement: HeartRateMeasurement(bpm: 72), bytes: [0x00, 0x48]),
        Encoding(name: "largest byte", measurement: HeartRateMeasurement(bpm: 255), bytes: [0x00, 0xFF]),
        Encoding(name: "two bytes", measurement: HeartRateMeasurement(bpm: 256), bytes: [0x01, 0x00, 0x01]),
        Encoding(name: "largest", measurement: HeartRateMeasurement(bpm: 65535), bytes: [0x01, 0xFF, 0xFF]),
        Encoding(
            name: "no contact",
            measurement: HeartRateMeasurement(bpm: 72, sensorContact: .notDetected),
            bytes: [0x04, 0x48]
        ),
        Encoding(
            name: "contact",
            measurement: HeartRateMeasurement(bpm: 72, sensorContact: .detected),
            bytes: [0x06, 0x48]
        ),
        Encoding(
            name: "energy",
            measurement: HeartRateMeasurement(bpm: 72, energyExpended: 0x1234),
            bytes: [0x08, 0x48, 0x34, 0x12]
        ),
        Encoding(
            name: "no energy yet",
            measurement: HeartRateMeasurement(bpm: 72, energyExpended: 0),
            bytes: [0x08, 0x48, 0x00, 0x00]
        ),
        Encoding(
            name: "intervals",
            measurement: HeartRateMeasurement(
                bpm: 72,
                rrIntervals: [RRInterval(rawValue: 0x0355), RRInterval(rawValue: 1)]
            ),
            bytes: [0x10, 0x48, 0x55, 0x03, 0x01, 0x00]
        ),
        Encoding(
            name: "everything",
            measurement: HeartRateMeasurement(
                bpm: 300,
                sensorContact: .detected,
                energyExpended: 65535,
                rrIntervals: [RRInterval(rawValue: 0xABCD)]
            ),
            bytes: [0x1F, 0x2C, 0x01, 0xFF, 0xFF, 0xCD, 0xAB]
        ),
    ]

    @Test(arguments: encodings)
    func encodes(encoding: Encoding) {
        #expect(encoding.measurement.gattBytes == encoding.bytes)
    }

    @Test(arguments: encodings)
    func decodes(encoding: Encoding) throws {
        #expect(try HeartRateMeasurement(gattBytes: encoding.bytes) == encoding.measurement)
    }

    @Test(
        "What a central has to understand though this package never sends it",
        arguments: [
            ("contact without its support", [0x02, 0x48], HeartRateMeasurement(bpm: 72)),
            ("reserved flags", [0xE0, 0x48], HeartRateMeasurement(bpm: 72)),
            ("two bytes for a low rate", [0x01, 0x48, 0x00], HeartRateMeasurement(bpm: 72)),
        ]
    )
    func decodesOtherForms(name: String, bytes: [UInt8], measurement: HeartRateMeasurement) throws {
        #expect(try HeartRateMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            ("nothing", [], .tooShort),
            ("flags alone", [0x00], .tooShort),
            ("half of a heart rate", [0x01, 0x48], .tooShort),
            ("no energy", [0x08, 0x48], .tooShort),
            ("half of the energy", [0x08, 0x48, 0x34], .tooShort),
            ("no interval", [0x10, 0x48], .tooShort),
            ("half of an interval", [0x10, 0x48, 0x55, 0x03, 0x01], .tooShort),
            ("more than announced", [0x00, 0x48, 0x55], .trailingBytes),
            ("energy that is not announced", [0x06, 0x48, 0x34, 0x12], .trailingBytes),
        ] as [(String, [UInt8], GATTDecodingError.Code)]
    )
    func refuses(name: String, bytes: [UInt8], code: GATTDecodingError.Code) {
        let error = #expect(throws: GATTDecodingError.self) {
            try HeartRateMeasurement(gattBytes: bytes)
        }
        #expect(error?.code == code)
    }

    @Test(arguments: [
        (HeartRateMeasurement(bpm: 255), 9),
        (HeartRateMeasurement(bpm: 256), 8),
        (HeartRateMeasurement(bpm: 255, energyExpended: 1), 8),
        (HeartRateMeasurement(bpm: 256, energyExpended: 1), 7),
    ])
    func sendsTheNewestIntervalsThatFit(measurement: HeartRateMeasurement, capacity: Int) throws {
        #expect(measurement.maximumRRIntervalCount == capacity)
        let intervals = (0...UInt16(capacity)).map(RRInterval.init(rawValue:))
        var full = measurement
        full.rrIntervals = Array(intervals.dropFirst())
        var overfull = measurement
        overfull.rrIntervals = intervals
        #expect(full.gattBytes.count <= 20)
        #expect(full.gattBytes.count > 18, "there is room for one more")
        #expect(overfull.gattBytes == full.gattBytes)
        #expect(try HeartRateMeasurement(gattBytes: full.gattBytes) == full)
    }

    @Test func decodesMoreIntervalsThanItSends() throws {
        let bytes: [UInt8] = [0x10, 0x48] + [UInt8](repeating: 7, count: 510)
        #expect(try HeartRateMeasurement(gattBytes: bytes).rrIntervals.count == 255)
    }

    /// What decodes has a form of its own, which decodes to the same.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func decoderEndsWhateverItReads(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let bytes = generator.bytes(count: Int.random(in: 0...24, using: &generator))
            guard let measurement = try? HeartRateMeasurement(gattBytes: bytes) else { continue }
            let encoded = measurement.gattBytes
            try #require(encoded.count <= 20, "seed \(seed), \(bytes)")
            if measurement.rrIntervals.count <= measurement.maximumRRIntervalCount {
                try #require(
                    try HeartRateMeasurement(gattBytes: encoded) == measurement,
                    "seed \(seed), \(bytes)"
                )
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct RRIntervalTests {
    @Test(
        arguments: [
            (Duration.zero, 0),
            (.seconds(1), 1024),
            (.milliseconds(500), 512),
            (.milliseconds(833), 853),
            (.microseconds(488), 0),
            (.microseconds(489), 1),
            (.seconds(-1), 0),
            (.milliseconds(-1), 0),
            (.milliseconds(63_999), 65_535),
            (.seconds(64), 65_535),
            (.seconds(Int64.max), 65_535),
            (.seconds(Int64.min), 0),
        ] as [(Duration, UInt16)]
    )
    func takesTheNearestOfItsUnits(duration: Duration, rawValue: UInt16) {
        #expect(RRInterval(duration).rawValue == rawValue)
    }

    @Test func returnsFromADurationUnchanged() {
        for rawValue in UInt16.min...UInt16.max {
            let interval = RRInterval(rawValue: rawValue)
            guard RRInterval(interval.duration) != interval else { continue }
            Issue.record("\(rawValue) becomes \(RRInterval(interval.duration).rawValue)")
        }
    }
}
