internal import PeripheralBattery
internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let battery = [batteryLevel, batteryLevelStatus]

    private static let batteryLevel = Scenario(
        "Battery: a central reads the level, and is notified of changes"
    ) {
        let battery = BatteryService(level: BatteryLevel(50))
        return ScenarioRun(Peripheral("Battery") { battery }) { central, session in
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

    private static let batteryLevelStatus = Scenario(
        "Battery: a central reads the level status, and is notified of changes"
    ) {
        let charging = BatteryLevelStatus(
            BatteryPowerState(wiredPower: .connected, charge: .charging, chargeLevel: .low),
            identifier: 0x1234,
            level: BatteryLevel(20),
            condition: BatteryCondition(needsService: false)
        )
        let unplugged = BatteryLevelStatus(
            BatteryPowerState(charge: .activelyDischarging, chargeLevel: .good),
            level: BatteryLevel(99)
        )
        let battery = BatteryService(level: BatteryLevel(20), status: charging)
        return ScenarioRun(Peripheral("Battery") { battery }) { central, session in
            let status = try present(battery.status)
            try await central.subscribe(to: status, knownTo: session)
            try expect("status", try await central.read(status), is: charging)
            try await battery.update(to: charging, in: session)
            try await battery.update(to: unplugged, in: session)
            try expect("change", try await central.nextUpdate(of: status), is: unplugged)
            try expect("status", try await central.read(status), is: unplugged)
        }
    }
}
