/// What was done when, in seconds, in a measurement of a ``BackpressureRun``.
struct BackpressureTimes {
    struct Arrival {
        var number: Int
        var time: Double
    }

    var completionReporting = ""
    /// When the values for a central were accepted, by its address, or `all`.
    var accepted: [Substring: [Double]] = [:]
    /// For each central, the values in their order.
    var arrived: [Substring: [Arrival]] = [:]
    /// The share of the processor that each part had.
    var shares = ""

    /// The values a second, of all together.
    var rate: Double {
        let last = arrived.values.compactMap(\.last?.time).max() ?? 0
        let first = arrived.values.compactMap(\.first?.time).min() ?? 0
        return Double(arrived.values.reduce(0) { $0 + $1.count }) / max(last - first, 0.001)
    }

    /// The values a second of one central, while it was sent any.
    func rate(of central: Substring) -> Double {
        let arrivals = arrived[central] ?? []
        let time = (arrivals.last?.time ?? 0) - (arrivals.first?.time ?? 0)
        return Double(max(arrivals.count - 1, 0)) / max(time, 0.001)
    }

    func accepted(for central: Substring) -> [Double] { accepted[central] ?? accepted["all"] ?? [] }

    /// The greatest number of values that a central lacks of those that were accepted.
    var mostUnderWay: Int {
        arrived.keys.map { mostUnderWay(accepted(for: $0), arrived[$0] ?? []) }.max() ?? 0
    }

    private func mostUnderWay(_ accepted: [Double], _ arrived: [Arrival]) -> Int {
        var most = 0
        var next = 0
        for (index, time) in accepted.enumerated() {
            while next < arrived.count, arrived[next].time < time { next += 1 }
            most = max(most, index + 1 - next)
        }
        return most
    }

    /// Takes a line of the program, which says when a value was accepted.
    mutating func takeAccepted(_ words: [Substring]) {
        guard words.count == 3, let microseconds = Double(words[2]) else { return }
        accepted[words[1], default: []].append(microseconds / 1e6)
    }

    /// Takes a line of the radio, which says when a value arrived at a central's controller.
    mutating func takeArrival(_ line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count == 3, let head = UInt32(fields[1], radix: 16), let time = Double(fields[2]) else {
            return
        }
        arrived[fields[0], default: []].append(Arrival(number: Int(head.byteSwapped), time: time / 1e6))
    }
}
