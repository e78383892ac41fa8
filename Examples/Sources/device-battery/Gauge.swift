import PeripheralBattery
import Synchronization

/// The level of a battery: this device's, or a simulated one if it has none.
final class Gauge: Sendable {
    /// A description of the source.
    let source: String

    private let supply: PowerSupply?
    private let simulated = Mutex(100)

    init(_ supply: PowerSupply? = PowerSupply()) {
        self.supply = supply
        source =
            supply.map { "The level is that of this device's battery \($0.name)." }
            ?? "This device has no battery, so the level is simulated."
    }

    /// Returns the current level.
    ///
    /// A simulated battery drains by one percent with each call, and is replaced when it is empty.
    ///
    /// - Returns: `nil` when the battery has been taken out.
    func level() -> BatteryLevel? {
        if let supply { return supply.percent.map { BatteryLevel($0) } }
        return simulated.withLock { percent in
            percent = percent > 0 ? percent - 1 : 100
            return BatteryLevel(percent)
        }
    }
}
