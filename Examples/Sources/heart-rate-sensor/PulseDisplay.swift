import ExampleSupport
import PeripheralBattery
import PeripheralHeartRate

/// Shows the measurements, as a live plot in a terminal, or as one line each elsewhere.
actor PulseDisplay {
    private var plot: PulsePlot
    private let size = Terminal.size
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    init(battery: BatteryLevel) {
        plot = PulsePlot(battery: battery)
        start = clock.now
    }

    private var isLive: Bool {
        guard let size else { return false }
        return size.columns >= PulsePlot.minimumColumns && size.rows > PulsePlot.height
    }

    func show(_ measurement: HeartRateMeasurement) {
        plot.add(measurement, at: elapsed)
        if !isLive { Terminal.print(measurement.summary) }
    }

    func show(_ battery: BatteryLevel) {
        plot.battery = battery
        if !isLive { Terminal.print("battery \(battery)") }
    }

    func show(_ text: String) {
        plot.caption = text
        if !isLive { Terminal.print(text) }
    }

    /// Redraws the plot twelve times a second until cancelled; without a terminal, does nothing.
    func animate() async throws {
        guard isLive, let size else { return }
        Terminal.hideCursor()
        defer { Terminal.showCursor() }
        Terminal.draw(frame(for: size))
        while true {
            try await clock.sleep(for: .milliseconds(80))
            Terminal.redraw(frame(for: size))
        }
    }

    private func frame(for size: Terminal.Size) -> [String] {
        plot.frame(columns: min(size.columns, 80), at: elapsed)
    }

    /// The time since the start, in seconds.
    private var elapsed: Double {
        start.duration(to: clock.now) / .seconds(1)
    }
}
