import PeripheralEnvironmentalSensing
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EnvironmentalQuantityTests {
    /// GATT Specification Supplement: type, exponent and special values of each characteristic.
    @Test(
        arguments: [
            (.temperature, 0x2A6E, 21.56, [0x6C, 0x08]), (.temperature, 0x2A6E, -0.01, [0xFF, 0xFF]),
            (.temperature, 0x2A6E, nil, [0x00, 0x80]), (.humidity, 0x2A6F, 100, [0x10, 0x27]),
            (.humidity, 0x2A6F, nil, [0xFF, 0xFF]), (.pressure, 0x2A6D, 101_325, [0x02, 0x76, 0x0F, 0x00]),
            (.dewPoint, 0x2A7B, -5, [0xFB]), (.heatIndex, 0x2A7A, 40, [0x28]),
            (.windChill, 0x2A79, -128, [0x80]),
            (.trueWindSpeed, 0x2A70, 12.34, [0xD2, 0x04]),
            (.trueWindDirection, 0x2A71, 359.99, [0x9F, 0x8C]),
            (.apparentWindSpeed, 0x2A72, 0.01, [1, 0]), (.apparentWindDirection, 0x2A73, 90, [0x28, 0x23]),
            (.gustFactor, 0x2A74, 1.5, [15]), (.rainfall, 0x2A78, 0.012, [12, 0]),
            (.illuminance, 0x2AFB, 167_772.14, [0xFE, 0xFF, 0xFF]),
            (.illuminance, 0x2AFB, nil, [0xFF, 0xFF, 0xFF]),
            (.irradiance, 0x2A77, 6553.5, [0xFF, 0xFF]), (.uvIndex, 0x2A76, 11, [11]),
            (.carbonDioxide, 0x2B8C, 421, [0xA5, 0x01]), (.carbonDioxide, 0x2B8C, nil, [0xFF, 0xFF]),
            (.volatileOrganicCompounds, 0x2BE7, 65_534, [0xFE, 0xFF]),
            (.particulateMatter2_5, 0x2BD6, 0.000_000_03, [0x03, 0x80]),
            (.particulateMatter2_5, 0x2BD6, nil, [0xFF, 0x07]), (.pollen, 0x2A75, 66_051, [3, 2, 1]),
            (.carbonMonoxide, 0x2BD0, 0.000_000_02, [0x02, 0x80]), (.methane, 0x2BD1, 1900, [0x6C, 0x07]),
            (.nonMethaneVolatileOrganicCompounds, 0x2BD3, 0.000_000_03, [0x03, 0x80]),
            (.sulfurHexafluoride, 0x2BD9, nil, [0xFF, 0x07]),
            (.elevation, 0x2A6C, -1, [0x9C, 0xFF, 0xFF]),
            (.elevation, 0x2A6C, 83_886.07, [0xFF, 0xFF, 0x7F]),
            (.magneticDeclination, 0x2A2C, 3.5, [0x5E, 0x01]),
        ] as [(EnvironmentalQuantity, UInt16, Double?, [UInt8])]
    )
    func writesNumbers(quantity: EnvironmentalQuantity, type: UInt16, number: Double?, bytes: [UInt8]) throws
    {
        #expect(quantity.type == BluetoothUUID(type))
        #expect(EnvironmentalValue(number, of: quantity).gattBytes == bytes)
        #expect(try EnvironmentalValue(gattBytes: bytes).number(of: quantity) == number)
    }

    @Test(
        arguments: [
            (.temperature, -300, [0x4D, 0x95]), (.temperature, 1000, [0xFF, 0x7F]),
            (.humidity, 101, [0x10, 0x27]),
            (.humidity, -1, [0, 0]), (.uvIndex, .infinity, [0xFF]), (.uvIndex, .nan, [0]),
            (.uvIndex, nil, [0]),
            (.temperature, .nan, [0x00, 0x80]), (.carbonDioxide, 100_000, [0xFE, 0xFF]),
            (.trueWindDirection, 360, [0x9F, 0x8C]), (.ozone, .nan, [0xFF, 0x07]),
        ] as [(EnvironmentalQuantity, Double?, [UInt8])]
    )
    func clampsWhatCannotBe(quantity: EnvironmentalQuantity, number: Double?, bytes: [UInt8]) {
        #expect(EnvironmentalValue(number, of: quantity).gattBytes == bytes)
    }

    @Test(
        arguments: [
            (.temperature, [0x6C]), (.temperature, [0x6C, 8, 0]), (.temperature, [0x4C, 0x95]),
            (.humidity, [0x11, 0x27]), (.trueWindDirection, [0xA0, 0x8C]), (.ozone, [0]), (.pressure, []),
            (.pressure, [0, 0, 0, 0, 0]),
        ] as [(EnvironmentalQuantity, [UInt8])]
    )
    func refuses(quantity: EnvironmentalQuantity, bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) {
            try EnvironmentalValue(gattBytes: bytes).number(of: quantity)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(EnvironmentalValue.self, seed: seed, count: 0...5)
    }

    @Test(
        "What is read is written the same",
        arguments: [
            EnvironmentalQuantity.temperature, .humidity, .pressure, .dewPoint, .gustFactor, .rainfall,
            .illuminance,
            .elevation, .pollen, .carbonDioxide,
        ]
    )
    func readsWhatItWrites(quantity: EnvironmentalQuantity) throws {
        var generator = SeededGenerator(seed: 1)
        let size = EnvironmentalValue(0, of: quantity).gattBytes.count
        for _ in 0..<2_000 {
            let bytes = generator.bytes(count: size)
            guard let number = try? EnvironmentalValue(gattBytes: bytes).number(of: quantity) else {
                continue
            }
            try #require(EnvironmentalValue(number, of: quantity).gattBytes == bytes, "seed 1, \(bytes)")
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EnvironmentalDescriptorTests {
    /// Environmental Sensing Service 1.0, section 3.1: flags, sampling, period, interval, application,
    /// uncertainty.
    @Test(
        arguments: [
            (EnvironmentalMeasurement(), [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF]),
            (
                EnvironmentalMeasurement(
                    sampling: .arithmeticMean,
                    period: 60,
                    updateInterval: 0x010203,
                    application: .outside,
                    uncertainty: 1.5
                ),
                [0, 0, 2, 60, 0, 0, 3, 2, 1, 0x1C, 3]
            ),
            (
                EnvironmentalMeasurement(sampling: .maximum, uncertainty: 0),
                [0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]
            ),
        ] as [(EnvironmentalMeasurement, [UInt8])]
    )
    func tellsHowItIsMeasured(measurement: EnvironmentalMeasurement, bytes: [UInt8]) throws {
        #expect(EnvironmentalMeasurement(uncertainty: .nan).gattBytes.last == 0xFF)
        #expect(measurement.gattBytes == bytes)
        #expect(try EnvironmentalMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            (DescriptorValueChange([.byClient, .triggers], of: 0x2A6E), [0x03, 0, 0x6E, 0x2A]),
            (
                DescriptorValueChange(.userDescription, of: "00112233-4455-6677-8899-aabbccddeeff"),
                [
                    0x10, 0, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
                    0x22, 0x11,
                    0x00,
                ]
            ),
        ] as [(DescriptorValueChange, [UInt8])]
    )
    func tellsWhatHasChanged(change: DescriptorValueChange, bytes: [UInt8]) throws {
        #expect(change.gattBytes == bytes)
        #expect(try DescriptorValueChange(gattBytes: bytes) == change)
    }

    @Test func aMalformedUUIDHasNoChange() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = DescriptorValueChange(.userDescription, of: "2A6")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("needs the UUID of a characteristic, but has \"2A6\" (not a UUID)"))
    }

    /// Environmental Sensing Service 1.0, section 3.1.2.2: the applications in the order of their numbers,
    /// from 0 on.
    @Test func applicationsHaveTheirNumbers() {
        let applications: [EnvironmentalMeasurement.Application] = [
            .unspecified, .air, .water, .barometric, .soil, .infrared, .mapDatabase,
            .barometricElevationSource, .gpsElevationSource, .gpsAndMapElevationSource,
            .verticalDatumElevationSource, .onshore, .onboard, .front, .back, .upper, .lower, .primary,
            .secondary, .outdoor, .indoor, .top, .bottom, .main, .backup, .auxiliary, .supplementary, .inside,
            .outside, .left, .right, .internal, .external, .solar,
        ]
        #expect(applications.map(\.rawValue) == Array(0...0x21))
    }

    @Test(arguments: [[], [1, 0], [1, 0, 0x6E], [1, 0, 1, 2, 3, 4]] as [[UInt8]])
    func refusesChanges(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try DescriptorValueChange(gattBytes: bytes) }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(EnvironmentalMeasurement.self, seed: seed, count: 10...12)
        try fuzz(EnvironmentalTriggerLogic.self, seed: seed, count: 0...2)
        try fuzz(DescriptorValueChange.self, seed: seed, count: 0...19)
    }
}
