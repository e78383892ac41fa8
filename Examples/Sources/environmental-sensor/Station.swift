import Synchronization

/// The source of measurements: the sensors of this device, or simulated ones if it has none.
final class Station: Sendable {
    /// The first measurement, which shows the available quantities.
    let first: Surroundings
    /// A description of the source.
    let source: String

    private let sensors: DeviceSensors?
    private let seconds = Atomic(0)

    init(_ sensors: DeviceSensors = DeviceSensors()) {
        if let surroundings = sensors.read() {
            self.sensors = sensors
            first = surroundings
            source = "The values are those of this device's sensors."
        } else {
            self.sensors = nil
            first = Self.simulated(0)
            source = "This device has no sensor, so the values are simulated."
        }
    }

    /// Returns the current measurement.
    ///
    /// The simulation advances by one second with each call.
    func read() -> Surroundings {
        guard let sensors else { return Self.simulated(seconds.add(1, ordering: .relaxed).newValue) }
        return sensors.read() ?? Surroundings()
    }

    /// Simulates a room with a window that is opened from time to time.
    private static func simulated(_ second: Int) -> Surroundings {
        let phase = Double(abs(second % 120 - 60)) / 60
        return Surroundings(
            celsius: 19 + 3 * phase,
            humidityPercent: 55 - 10 * phase,
            pascals: 101_325 - Double(second % 600)
        )
    }
}
