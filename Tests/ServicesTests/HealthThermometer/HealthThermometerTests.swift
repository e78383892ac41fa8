import PeripheralHealthThermometer
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TemperatureMeasurementTests {
    /// Health Thermometer Service 1.0, section 3.1: flags, temperature, time, type; 36.6 is 366 × 10^−1.
    static let encodings: [(TemperatureMeasurement, [UInt8])] = [
        (TemperatureMeasurement(celsius: 36.6), [0x00, 0x6E, 0x01, 0x00, 0xFF]),
        (TemperatureMeasurement(fahrenheit: 98), [0x01, 0x62, 0x00, 0x00, 0x00]),
        (TemperatureMeasurement(celsius: .nan, type: .tympanum), [0x04, 0xFF, 0xFF, 0x7F, 0x00, 0x09]),
        (
            TemperatureMeasurement(
                celsius: -1,
                timestamp: DateTime(year: 2026, month: 11, day: 22, hour: 1, minute: 2, second: 3),
                type: .armpit
            ),
            [0x06, 0xFF, 0xFF, 0xFF, 0x00, 0xEA, 0x07, 11, 22, 1, 2, 3, 1]
        ),
    ]

    @Test(arguments: encodings)
    func hasItsBytes(measurement: TemperatureMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try TemperatureMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            [], [0], [0, 0x6E, 0x01, 0x00], [0, 0x6E, 0x01, 0x00, 0xFF, 1], [4, 0x6E, 0x01, 0x00, 0xFF],
            [2, 0x6E, 0x01, 0x00, 0xFF, 0xEA, 0x07, 13, 1, 0, 0, 0],
        ] as [[UInt8]]
    )
    func refuses(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try TemperatureMeasurement(gattBytes: bytes) }
    }

    @Test func ignoresFlagsThatAreReserved() throws {
        let measurement = try TemperatureMeasurement(gattBytes: [0xF8, 0x6E, 0x01, 0x00, 0xFF])
        #expect(measurement == TemperatureMeasurement(celsius: 36.6))
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decoderEndsWhateverItReads(seed: UInt64) throws {
        try fuzz(TemperatureMeasurement.self, seed: seed, count: 0...14)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct HealthThermometerServiceTests {
    @Test func declaresOnlyTheMeasurementByItself() async throws {
        let thermometer = HealthThermometerService(security: .open)
        try await Peripheral("Thermometer") { thermometer }.test(mtu: 23) { central, session in
            let declared = try await central.discover().declared
            #expect(
                declared == [DeclaredCharacteristic(service: 0x1809, uuid: 0x2A1C, properties: .indicate)]
            )
            try await central.subscribe(to: thermometer.measurement)
            // There are no values before the result.
            try await thermometer.notify(TemperatureMeasurement(celsius: 30), in: session)
            try await thermometer.indicate(TemperatureMeasurement(celsius: 37, type: .ear), in: session)
            #expect(
                try await central.nextUpdate(of: thermometer.measurement)
                    == TemperatureMeasurement(celsius: 37, type: .ear)
            )
            try await thermometer.updateInterval(to: 5, in: session)
        }
    }

    @Test func declaresWhatIsGiven() async throws {
        let set = Recorded<UInt16>()
        let thermometer = HealthThermometerService(
            type: .ear,
            hasIntermediateTemperature: true,
            interval: .settable(60, within: 1...3600) { set.append($0) },
            security: .open
        )
        let type = try #require(thermometer.type)
        let intermediate = try #require(thermometer.intermediateTemperature)
        let interval = try #require(thermometer.measurementInterval)
        try await Peripheral("Thermometer") { thermometer }.test { central, session in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1809, uuid: 0x2A1C, properties: .indicate),
                    DeclaredCharacteristic(service: 0x1809, uuid: 0x2A1D, properties: .read),
                    DeclaredCharacteristic(service: 0x1809, uuid: 0x2A1E, properties: .notify),
                    DeclaredCharacteristic(
                        service: 0x1809,
                        uuid: 0x2A21,
                        properties: [.read, .write, .indicate]
                    ),
                ]
            )
            #expect(try await central.read(type) == .ear)
            try await central.subscribe(to: intermediate)
            try await thermometer.notify(TemperatureMeasurement(celsius: 30, type: .ear), in: session)
            #expect(try await central.nextUpdate(of: intermediate) == TemperatureMeasurement(celsius: 30))
            try await central.subscribe(to: thermometer.measurement)
            try await thermometer.indicate(TemperatureMeasurement(celsius: 37, type: .ear), in: session)
            #expect(
                try await central.nextUpdate(of: thermometer.measurement)
                    == TemperatureMeasurement(celsius: 37)
            )
            #expect(try await central.read(.validRange, of: interval) == [1, 0, 0x10, 0x0E])
            #expect(try await central.read(interval) == 60)
            for seconds: UInt16 in [0, 3601] {
                await #expect(throws: ATTError(rawValue: 0x80)) { try await central.write(interval, seconds) }
            }
            try await central.write(interval, 3600)
            #expect(try await central.read(interval) == 3600)
            #expect(set.values == [3600])
            try await central.subscribe(to: interval)
            try await thermometer.updateInterval(to: 3600, in: session)
            try await thermometer.updateInterval(to: 10, in: session)
            #expect(try await central.nextUpdate(of: interval) == 10)
            #expect(try await central.read(interval) == 10)
        }
    }

    @Test func keepsAnIntervalFromBeingSet() async throws {
        let thermometer = HealthThermometerService(interval: .fixed(30), security: .open)
        let interval = try #require(thermometer.measurementInterval)
        try await Peripheral("Thermometer") { thermometer }.test { central async throws in
            #expect(try await central.read(interval) == 30)
            await #expect(throws: ATTError.writeNotPermitted) { try await central.write(interval, 31) }
        }
    }
}
