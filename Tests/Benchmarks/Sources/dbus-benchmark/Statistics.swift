/// The value in the middle.
func median(_ values: [Double]) -> Double {
    quantile(0.5, of: values)
}

/// The value below which the given part of all values lies.
func quantile(_ part: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let position = part * Double(sorted.count - 1)
    let (lower, upper) = (Int(position), min(Int(position) + 1, sorted.count - 1))
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (position - Double(lower))
}

/// How two series of measurements, taken in pairs, compare.
struct Ratio {
    var ours: Double
    var theirs: Double
    var median: Double
    var quartiles: (Double, Double)

    init(_ ours: [Double], to theirs: [Double]) {
        let ratios = zip(ours, theirs).map { $0 / $1 }
        self.ours = dbus_benchmark.median(ours)
        self.theirs = dbus_benchmark.median(theirs)
        median = dbus_benchmark.median(ratios)
        quartiles = (quantile(0.25, of: ratios), quantile(0.75, of: ratios))
    }
}

/// A line of the table.
struct Row: CustomStringConvertible {
    var subject: Subject
    var latency: Ratio?
    var processorTime: Ratio

    static let header = """
        | subject            | latency µs C → Swift | ratio (quartiles) goal        | CPU µs for each C → Swift | ratio (quartiles) goal        |
        |--------------------|----------------------|-------------------------------|---------------------------|-------------------------------|
        """

    var isGoalMet: Bool {
        isMet(latency, subject.latencyGoal) && isMet(processorTime, subject.processorGoal)
    }

    var description: String {
        let columns = [
            padded(subject.name, 18),
            padded(times(latency), 20), padded(ratio(latency, goal: subject.latencyGoal), 29),
            padded(times(processorTime), 25), padded(ratio(processorTime, goal: subject.processorGoal), 29),
        ]
        return "| " + columns.joined(separator: " | ") + " |"
    }

    private func isMet(_ ratio: Ratio?, _ goal: Double?) -> Bool {
        guard let ratio, let goal else { return true }
        return ratio.median <= goal
    }

    private func times(_ ratio: Ratio?) -> String {
        guard let ratio else { return "" }
        return "\(number(ratio.theirs / 1000, 1)) → \(number(ratio.ours / 1000, 1))"
    }

    private func ratio(_ ratio: Ratio?, goal: Double?) -> String {
        guard let ratio, let goal else { return "" }
        let (lower, upper) = ratio.quartiles
        let verdict = ratio.median <= goal ? "" : " missed"
        return
            "\(number(ratio.median, 2)) (\(number(lower, 2))–\(number(upper, 2))) ≤ \(number(goal, 2))\(verdict)"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func number(_ value: Double, _ digits: Int) -> String {
        let scale = digits == 1 ? 10 : 100
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
