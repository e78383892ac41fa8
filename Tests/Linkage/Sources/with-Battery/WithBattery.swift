import MinimalProgram
import PeripheralBattery
import PeripheralKit

@main
struct WithBattery {
    static func main() async throws {
        let battery = BatteryService(level: BatteryLevel(50))
        try await runMinimalProgram(with: [battery]) { session in
            try await battery.update(to: BatteryLevel(49), in: session)
        }
    }
}
