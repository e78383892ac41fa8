import PeripheralBattery
import PeripheralKit

extension ServiceValues {
    static let battery: [Sample] = [
        .sent(.batteryLevel, BatteryLevel(0), is: 0),
        .sent(.batteryLevel, BatteryLevel(87), is: 87),
        .sent(.batteryLevel, BatteryLevel(100), is: 100),
        .sent(
            .batteryLevelStatus,
            BatteryLevelStatus(
                BatteryPowerState(
                    wiredPower: .connected,
                    wirelessPower: .unknown,
                    charge: .charging,
                    chargeLevel: .low,
                    chargingType: .trickle,
                    chargingFault: [.externalPower]
                ),
                identifier: 0x1234,
                level: BatteryLevel(87),
                condition: BatteryCondition(needsService: true, isFaulty: true)
            ),
            is: [
                "flags": 7, "battery_present": true, "wired_external_power_connected": "YES",
                "wireless_external_power_connected": "UNKNOWN", "battery_charge_state": "CHARGING",
                "battery_charge_level": "LOW", "charging_type": "TRICKLE", "charging_fault_battery": false,
                "charging_fault_external_power": true, "charging_fault_other": false, "identifier": 0x1234,
                "battery_level": 87, "service_required": "TRUE", "battery_fault": true,
            ]
        ),
    ]
}
