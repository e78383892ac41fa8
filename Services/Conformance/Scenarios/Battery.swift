internal import PeripheralBattery
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let battery = [batteryLevel]

    private static let batteryLevel = Scenario("Battery: the level is read, and told when it changes") {
        let battery = BatteryService(level: BatteryLevel(50))
        return Trial(Peripheral("Battery") { battery }) { central, session in
            try await central.subscribe(to: battery.level, knownTo: session)
            try expect("level", try await central.read(battery.level), is: BatteryLevel(50))
            for percent in [50, 49, 49, 48] {
                try await battery.update(to: BatteryLevel(percent), in: session)
            }
            try expect("change", try await central.nextUpdate(of: battery.level), is: BatteryLevel(49))
            try expect("change", try await central.nextUpdate(of: battery.level), is: BatteryLevel(48))
            try expect("level", try await central.read(battery.level), is: BatteryLevel(48))
        }
    }
}
