import MinimalProgram
import PeripheralBattery
import PeripheralKit

@main
struct WithBattery {
    static func main() async throws {
        let status = BatteryLevelStatus(
            BatteryPowerState(wiredPower: .connected, charge: .charging),
            identifier: 1,
            level: BatteryLevel(50),
            condition: BatteryCondition(needsService: false)
        )
        let kept = BatteryService(level: BatteryLevel(50), status: status, which: .left)
        let asked = BatteryService(status: { status }, which: .right) { BatteryLevel(50) }
        try await runMinimalProgram(with: [kept, asked]) { session in
            try await kept.update(to: BatteryLevel(49), in: session)
            try await kept.update(to: status, in: session)
        }
    }
}
