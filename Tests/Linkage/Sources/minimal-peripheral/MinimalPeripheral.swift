import PeripheralBlueZ
import PeripheralHeartRate
import PeripheralKit

/// The least that a firmware needs: one service on BlueZ, notified once a second.
@main
struct MinimalPeripheral {
    static func main() async throws {
        let heartRate = HeartRateService(location: .chest)
        let peripheral = Peripheral("Pulse") {
            heartRate
        }
        try await peripheral.run(on: .bluez) { session in
            while true {
                try await session.notify(heartRate.measurement, HeartRateMeasurement(bpm: 72))
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
