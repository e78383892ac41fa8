import PeripheralEnvironmentalSensing
import PeripheralKit
import PeripheralTesting
import Testing

@testable import environmental_sensor

@Suite(.timeLimit(.minutes(1)))
struct DeviceSensorsTests {
    private static let fixtures = #filePath.dropLast("DeviceSensorsTests.swift".count) + "Fixtures/"

    @Test(
        arguments: [
            // A processor's temperature, and a value that a driver cannot read.
            ("board", Surroundings(celsius: 48.25)),
            // A BME280 of Industrial I/O beside the processor: pressure in kilopascals, humidity in
            // thousandths.
            ("bme280", Surroundings(celsius: 21.47, humidityPercent: 43.125, pascals: 96_512.34)),
            // An SHT3x below zero, which belongs to hwmon.
            ("sht3x", Surroundings(celsius: -5.5, humidityPercent: 87.03)),
            // An ADC's temperature, raw: (2120 - 1851) * 100.
            ("raw", Surroundings(celsius: 26.9)),
        ]
    )
    func readsTheSensors(fixture: String, surroundings: Surroundings) throws {
        let read = try #require(DeviceSensors(in: Self.fixtures + fixture).read())
        #expect(isClose(read.celsius, surroundings.celsius))
        #expect(isClose(read.humidityPercent, surroundings.humidityPercent))
        #expect(isClose(read.pascals, surroundings.pascals))
    }

    @Test(arguments: ["nothing"])
    func findsNone(fixture: String) {
        #expect(DeviceSensors(in: Self.fixtures + fixture).read() == nil)
    }

    private func isClose(_ left: Double?, _ right: Double?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return abs(left - right) < 1e-6
    }
}

@Suite(.timeLimit(.minutes(1)))
struct WeatherPeripheralTests {
    private static let fixtures = #filePath.dropLast("DeviceSensorsTests.swift".count) + "Fixtures/"

    @Test func declaresWhatIsMeasured() async throws {
        let station = Station(DeviceSensors(in: Self.fixtures + "sht3x"))
        let weather = WeatherPeripheral(station, name: "Weather")
        #expect(weather.weather.sensors.map(\.quantity) == [.temperature, .humidity])
        try await weather.peripheral.test { central in
            let temperature = try await central.read(weather.weather.sensors[0].value)
            #expect(try temperature.number(of: .temperature) == -5.5)
        }
    }

    @Test func simulatesWhereThereIsNothing() {
        let station = Station(DeviceSensors(in: Self.fixtures + "nothing"))
        #expect(station.source == "This device has no sensor, so the values are simulated.")
        #expect(station.read() != station.read())
    }
}
