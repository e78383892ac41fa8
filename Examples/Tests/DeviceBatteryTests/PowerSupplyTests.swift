import PeripheralBattery
import Testing

@testable import device_battery

@Suite(.timeLimit(.minutes(1)))
struct PowerSupplyTests {
    private static let fixtures = #filePath.dropLast("PowerSupplyTests.swift".count) + "Fixtures/"

    @Test(
        arguments: [
            // A power plug, an empty bay, and a battery.
            ("laptop", "BAT1", 87),
            // Drivers that do not report a percentage. A new battery may hold more than its design capacity.
            ("charge", "axp20x-battery", 62), ("energy", "BAT0", 101),
        ]
    )
    func readsTheBattery(fixture: String, name: String, percent: Int) throws {
        let supply = try #require(PowerSupply(in: Self.fixtures + fixture))
        #expect(supply.name == name)
        #expect(supply.percent == percent)
    }

    /// A mouse's battery supplies only the mouse.
    ///
    /// A driver may have no value, and the class may be missing.
    @Test(arguments: ["mouse", "unreadable", "nothing"])
    func findsNoBattery(fixture: String) {
        #expect(PowerSupply(in: Self.fixtures + fixture) == nil)
    }

    @Test func simulatesWhereThereIsNone() {
        let gauge = Gauge(nil)
        #expect(gauge.source == "This device has no battery, so the level is simulated.")
        #expect(gauge.level() == BatteryLevel(99))
        for _ in 0..<99 { _ = gauge.level() }
        #expect(gauge.level() == BatteryLevel(100))
    }
}
