import MyDevicePeripheral
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SensorServiceTests {
    @Test func reportsTheReading() async throws {
        let sensor = SensorService { 2150 }
        try await sensor.peripheral.test { central in
            let reading = try await central.read(sensor.reading)
            #expect(reading == 2150)
        }
    }

    @Test func sendsReadings() async throws {
        let sensor = SensorService { 2150 }
        try await sensor.peripheral.test { central in
            try await central.write(sensor.period, 10)
            try await central.subscribe(to: sensor.reading)
            #expect(try await central.nextUpdate(of: sensor.reading) == 2150)
        }
    }

    @Test func refusesPeriodsThatAreTooShort() async throws {
        let sensor = SensorService { 0 }
        try await sensor.peripheral.test { central in
            await #expect(throws: SensorService.periodTooShort) {
                try await central.write(sensor.period, 9)
            }
            let period = try await central.read(sensor.period)
            #expect(period == 1000)
        }
    }
}
