#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The last seconds of an electrocardiogram, drawn from the intervals between the beats.
struct ElectrocardiogramTrace {
    /// The duration of the visible trace, in seconds.
    private static let window = 5.0

    /// The delay between a beat and its drawing, in seconds.
    ///
    /// Beats arrive once a second, and the P wave is drawn before its beat.
    private static let delay = 0.3

    /// The times of the beats, in seconds.
    private var beats: [Double] = []

    /// Adds the intervals that ended before a time.
    mutating func add(_ intervals: [Double], at time: Double) {
        for interval in intervals {
            // If measurements were missed, the beats continue from the current time.
            let beat = max((beats.last ?? time) + interval, time)
            beats.append(beat)
        }
        beats.removeAll { $0 < time - 2 * Self.window }
    }

    /// Returns whether the heart has just beaten.
    func isBeating(at time: Double) -> Bool {
        beats.contains { (0..<0.2).contains(time - Self.delay - $0) }
    }

    /// Returns the lines of the trace.
    func lines(columns: Int, rows: Int, at time: Double) -> [String] {
        var canvas = BrailleCanvas(columns: columns, rows: rows)
        guard let first = beats.first else { return canvas.lines }
        let end = time - Self.delay
        let step = Self.window / Double(canvas.width)
        for x in 0..<canvas.width {
            let start = end - Double(canvas.width - x) * step
            guard start > first - 0.5 else { continue }
            // The spike of a beat is narrower than a column, so each column is sampled at several instants.
            let rows = (0...4).map { row(ofVoltage: voltage(at: start + Double($0) / 4 * step), in: canvas) }
            canvas.drawColumn(x, from: rows.min() ?? 0, to: rows.max() ?? 0)
        }
        return canvas.lines
    }

    private func row(ofVoltage voltage: Double, in canvas: BrailleCanvas) -> Int {
        let lowest = -0.3
        let highest = 1.05
        let share = (voltage - lowest) / (highest - lowest)
        return Int((Double(canvas.height - 1) * (1 - share)).rounded())
    }

    /// Returns the voltage in millivolts: the sum of the waves of all nearby beats.
    private func voltage(at time: Double) -> Double {
        var sum = 0.0
        for beat in beats where abs(time - beat) < 0.6 {
            for wave in Self.waves {
                let distance = (time - beat - wave.delay) / wave.width
                sum += wave.height * exp(-distance * distance / 2)
            }
        }
        return sum
    }

    /// The waves P, Q, R, S and T: distance from the beat in seconds, height in millivolts, and width.
    private static let waves: [(delay: Double, height: Double, width: Double)] = [
        (-0.16, 0.12, 0.025), (-0.035, -0.12, 0.010), (0, 1, 0.012), (0.035, -0.25, 0.012),
        (0.24, 0.25, 0.045),
    ]
}
