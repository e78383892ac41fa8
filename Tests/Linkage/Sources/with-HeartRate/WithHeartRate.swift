import MinimalProgram
import PeripheralHeartRate
import PeripheralKit

@main
struct WithHeartRate {
    static func main() async throws {
        let heartRate = HeartRateService(location: .chest) {}
        try await runMinimalProgram(with: [heartRate]) { session in
            let measurement = HeartRateMeasurement(
                bpm: 72,
                sensorContact: .detected,
                energyExpended: 12,
                rrIntervals: [RRInterval(.milliseconds(833))]
            )
            try await heartRate.notify(measurement, in: session)
        }
    }
}
