import ExampleSupport
import PeripheralEnvironmentalSensing
import PeripheralKit
import PeripheralTesting

/// The declaration: a sensor for each quantity that the station measures.
struct WeatherPeripheral {
    let weather: EnvironmentalSensingService
    let peripheral: Peripheral

    private let station: Station
    private let readings: [Reading]

    /// A sensor, with its unit and its value in a measurement.
    private struct Reading {
        var sensor: EnvironmentalSensor
        var unit: String
        var value: @Sendable (Surroundings) -> Double?
    }

    init(_ station: Station, name: String) {
        let kinds: [(EnvironmentalQuantity, String, @Sendable (Surroundings) -> Double?)] = [
            (.temperature, "°C", { $0.celsius }), (.humidity, "%", { $0.humidityPercent }),
            (.pressure, "Pa", { $0.pascals }),
        ]
        let readings = kinds.compactMap { quantity, unit, value -> Reading? in
            guard let first = value(station.first) else { return nil }
            let sensor = EnvironmentalSensor(quantity, initially: first, areTriggersSettable: true)
            return Reading(sensor: sensor, unit: unit, value: value)
        }
        let weather = EnvironmentalSensingService(readings.map(\.sensor))
        self.station = station
        self.readings = readings
        self.weather = weather
        // All centrals can read, but only paired centrals can set triggers.
        peripheral = Peripheral(name, pairing: .justWorks) {
            weather
            Advertisement(appearance: 0x0540)  // sensor
        }
    }

    /// Measures once a second, and sends the values that the triggers select.
    func serve(_ session: PeripheralSession) async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            let surroundings = station.read()
            for reading in readings {
                // A value that cannot be read keeps its last state.
                guard let value = reading.value(surroundings) else { continue }
                try await weather.update(reading.sensor, to: value, in: session)
            }
        }
    }

    /// Acts as an app that shows all quantities, until cancelled.
    func show(_ phone: VirtualCentral) async throws {
        try await phone.connect()
        try await withThrowingTaskGroup { group in
            for reading in readings {
                let now = try await phone.read(reading.sensor.value)
                Terminal.print("phone: reads \(try text(of: now, reading))")
                try await phone.subscribe(to: reading.sensor.value)
                group.addTask {
                    for try await value in phone.updates(of: reading.sensor.value) {
                        Terminal.print("phone: is notified of \(try text(of: value, reading))")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func text(of value: EnvironmentalValue, _ reading: Reading) throws -> String {
        let number = try value.number(of: reading.sensor.quantity).map(\.description) ?? "an unknown value"
        return "\(number) \(reading.unit)"
    }
}
