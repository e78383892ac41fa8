import ExampleSupport
import PeripheralBattery
import PeripheralHeartRate

/// A picture of a pulse: the latest numbers, an electrocardiogram, and the recent heart rate.
///
/// A heart rate sensor does not send an electrocardiogram. The drawn one has a textbook shape, with the beats
/// at the sensor's intervals.
struct PulsePlot {
    /// The number of lines of a frame.
    static let height = 2 + traceRows + 1 + rateRows + 1

    /// The number of columns that a frame needs.
    static let minimumColumns = 72

    private static let traceRows = 6
    private static let rateRows = 5
    private static let margin = 6

    var battery: BatteryLevel

    /// A line of additional text.
    var caption = ""

    private var latest: HeartRateMeasurement?
    private var rates: [UInt16] = []
    private var trace = ElectrocardiogramTrace()

    init(battery: BatteryLevel) {
        self.battery = battery
    }

    /// Adds a measurement with its time of arrival, in seconds.
    mutating func add(_ measurement: HeartRateMeasurement, at time: Double) {
        latest = measurement
        rates.append(measurement.bpm)
        rates = rates.suffix(80)
        trace.add(measurement.rrIntervals.map { $0.duration / .seconds(1) }, at: time)
    }

    /// Returns the picture at a time, in seconds.
    ///
    /// It has ``height`` lines of at most the given number of columns, which must be at least
    /// ``minimumColumns``.
    func frame(columns: Int, at time: Double) -> [String] {
        let width = columns - Self.margin - 1
        let traceLines = trace.lines(columns: width, rows: Self.traceRows, at: time)
        return [numbers(at: time), " " + String(caption.prefix(columns - 1))]
            + traceLines.map { String(repeating: " ", count: Self.margin) + Color.red.around($0) }
            + [""]
            + rateLines(columns: width)
    }

    private func numbers(at time: Double) -> String {
        guard let latest else { return " ♡ waiting for the first measurement" }
        var parts = ["\(latest.bpm) bpm"]
        if let interval = latest.rrIntervals.last { parts.append("RR \(interval.milliseconds) ms") }
        if latest.sensorContact == .detected { parts.append("contact") }
        if let energy = latest.energyExpended { parts.append("energy \(energy) kJ") }
        parts.append("battery \(battery)")
        let heart = trace.isBeating(at: time) ? "♥" : "♡"
        return " \(Color.red.around(heart)) " + parts.joined(separator: "   ")
    }

    /// The recent heart rate, with one column per measurement and a scale at the left.
    private func rateLines(columns: Int) -> [String] {
        let shown = rates.suffix(columns).map { Double($0) }
        let lowest = min(60, shown.min() ?? 60)
        let highest = max(120, shown.max() ?? 120)
        var canvas = BrailleCanvas(columns: columns, rows: Self.rateRows)
        var previous: Int?
        for (column, rate) in shown.enumerated() {
            let share = (rate - lowest) / (highest - lowest)
            let y = Int((Double(canvas.height - 1) * (1 - share)).rounded())
            canvas.drawColumn(2 * column, from: previous ?? y, to: y)
            canvas.drawColumn(2 * column + 1, from: y, to: y)
            previous = y
        }
        var lines = canvas.lines.map { "     │" + Color.green.around($0) }
        lines[0].replaceFirst(Self.margin, by: scale(highest) + "┤")
        lines[lines.count - 1].replaceFirst(Self.margin, by: scale(lowest) + "┤")
        return lines + ["     └" + String(repeating: "─", count: columns)]
    }

    private func scale(_ rate: Double) -> String {
        let text = "\(Int(rate))"
        return String(repeating: " ", count: max(0, 4 - text.count)) + text + " "
    }
}

extension String {
    fileprivate mutating func replaceFirst(_ count: Int, by text: String) {
        self = text + dropFirst(count)
    }
}
