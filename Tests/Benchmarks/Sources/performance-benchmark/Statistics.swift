/// The median and the quartiles of a series of measurements.
struct Quartiles {
    var lower: Double
    var median: Double
    var upper: Double

    init(_ values: some Collection<Double>) {
        let sorted = values.sorted()
        lower = Self.quantile(0.25, of: sorted)
        median = Self.quantile(0.5, of: sorted)
        upper = Self.quantile(0.75, of: sorted)
    }

    /// The value below which the given part of all values lies.
    private static func quantile(_ part: Double, of sorted: [Double]) -> Double {
        guard !sorted.isEmpty else { return .nan }
        let position = part * Double(sorted.count - 1)
        let (lower, upper) = (Int(position), min(Int(position) + 1, sorted.count - 1))
        return sorted[lower] + (sorted[upper] - sorted[lower]) * (position - Double(lower))
    }
}
