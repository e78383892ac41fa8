/// A line of the table: one quantity of one subject.
struct Line {
    var subject: String
    var quantity: String
    var unit: Unit
    /// What C takes.
    var reference: Quartiles?
    var measured: Quartiles
    /// The quotients of the pairs, or `nil` where there is nothing to compare with.
    var ratio: Quartiles?
    var goal: Goal?

    static let header = """
        | Subject | Quantity | C | Swift | Ratio (quartiles) | Goal |
        |---|---|---|---|---|---|
        """

    /// A quantity without a program to compare with.
    init(_ subject: String, _ quantity: String, in unit: Unit, _ values: [Double], goal: Goal? = nil) {
        self.subject = subject
        self.quantity = quantity
        self.unit = unit
        self.goal = goal
        measured = Quartiles(values)
    }

    /// A quantity that was measured in pairs with C.
    init(
        _ subject: String,
        _ quantity: String,
        in unit: Unit,
        _ values: [Double],
        of reference: [Double],
        goal: Goal?
    ) {
        self.init(subject, quantity, in: unit, values, goal: goal)
        self.reference = Quartiles(reference)
        ratio = Quartiles(zip(values, reference).map { $0 / $1 })
    }

    var isGoalMet: Bool { goal?.isMet(by: (ratio ?? measured).median) ?? true }
}

extension Line: CustomStringConvertible {
    var description: String {
        let columns = [
            subject, quantity,
            reference.map { unit.text($0.median) } ?? "",
            ratio == nil
                ? "\(unit.text(measured.median)) \(range(measured, unit.number))"
                : unit.text(measured.median),
            ratio.map { "\(decimal($0.median, 2)) \(range($0) { decimal($0, 2) })" } ?? "",
            verdict,
        ]
        return "| " + columns.joined(separator: " | ") + " |"
    }

    private var verdict: String {
        guard let goal else { return "" }
        let missed = isGoalMet ? "" : ", missed"
        switch goal {
        case .atMost(let limit): return "≤ \(limitText(limit))\(missed)"
        case .atLeast(let limit): return "≥ \(limitText(limit))\(missed)"
        }
    }

    private func limitText(_ limit: Double) -> String { ratio == nil ? unit.text(limit) : decimal(limit, 2) }

    private func range(_ quartiles: Quartiles, _ text: (Double) -> String) -> String {
        "(\(text(quartiles.lower)) to \(text(quartiles.upper)))"
    }
}

/// The unit in which a quantity is shown.
enum Unit {
    /// Shows nanoseconds.
    case microseconds
    /// Shows nanoseconds.
    case milliseconds
    /// Shows bytes.
    case kilobytes
    /// Shows bytes.
    case megabytes
    case perSecond

    func text(_ value: Double) -> String { "\(number(value)) \(symbol)" }

    func number(_ value: Double) -> String {
        switch self {
        case .microseconds: decimal(value / 1e3, 1)
        case .milliseconds: decimal(value / 1e6, 1)
        case .kilobytes: decimal(value / 1e3, 1)
        case .megabytes: decimal(value / 1e6, 1)
        case .perSecond: decimal(value, 0)
        }
    }

    private var symbol: String {
        switch self {
        case .microseconds: "µs"
        case .milliseconds: "ms"
        case .kilobytes: "kB"
        case .megabytes: "MB"
        case .perSecond: "/s"
        }
    }
}

private func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = String(abs(scaled) % scale)
    return "\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}
