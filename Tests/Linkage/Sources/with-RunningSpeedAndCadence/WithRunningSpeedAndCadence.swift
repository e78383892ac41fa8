import MinimalProgram
import PeripheralKit
import PeripheralRunningSpeedAndCadence

@main
struct WithRunningSpeedAndCadence {
    static func main() async throws {
        let running = RunningSpeedAndCadenceService(
            reportsStrideLength: true,
            reportsRunning: true,
            location: .movable(among: [.hip, .inShoe], current: { .hip }, move: { _ in }),
            onSetTotalDistance: { _ in },
            onCalibrate: {}
        )
        try await runMinimalProgram(with: [running.service]) { session in
            let measurement = RSCMeasurement(
                metersPerSecond: 3,
                cadence: 160,
                strideLength: 1,
                totalDistance: 1000,
                isRunning: true
            )
            try await running.notify(measurement, in: session)
        }
    }
}
