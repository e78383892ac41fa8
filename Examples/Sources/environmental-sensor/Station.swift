import Synchronization

/// Tells the surroundings: those that this device measures, or simulated ones where it measures none.
final class Station: Sendable {
    /// What there is to measure, and what it was at first.
    let first: Surroundings
    /// Where the values are from, in words.
    let source: String

    private let sensors: DeviceSensors?
    private let seconds = Atomic(0)

    init(_ sensors: DeviceSensors = DeviceSensors()) {
        if let surroundings = sensors.read() {
            self.sensors = sensors
            first = surroundings
            source = "the sensors of this device"
        } else {
            self.sensors = nil
            first = Self.simulated(0)
            source = "simulated sensors"
        }
    }

    /// The surroundings now; the simulated ones go on by a second each time.
    func read() -> Surroundings {
        guard let sensors else { return Self.simulated(seconds.add(1, ordering: .relaxed).newValue) }
        return sensors.read() ?? Surroundings()
    }

    /// A room whose window is open now and then.
    private static func simulated(_ second: Int) -> Surroundings {
        let phase = Double(abs(second % 120 - 60)) / 60
        return Surroundings(
            celsius: 19 + 3 * phase,
            humidityPercent: 55 - 10 * phase,
            pascals: 101_325 - Double(second % 600)
        )
    }
}
