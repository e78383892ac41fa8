/// One measurement of a ``BackpressureRun``.
struct BackpressureRow {
    /// The milliseconds for each packet, of each central's link, or of all; 0 for no limit.
    var packetTimes: [Double]
    var size: Int
    var centrals: Int
    /// How many values each gets, or all get.
    var counts: [Int]
    /// The milliseconds between two values of which only the newest counts; `nil` when each counts.
    var interval: Int?

    var name: String {
        packetTimes.map { "\($0)" }.joined(separator: "/")
            + " ms per packet, \(size) bytes, \(centrals) centrals"
            + (interval.map { ", newest of one per \($0) ms" } ?? "")
    }

    /// The time for a packet of a link that carries next to nothing.
    static let silent = 60_000.0

    /// The places of the centrals that get all their values.
    var reachedPlaces: [Int] {
        (0..<centrals).filter { packetTimes[min($0, packetTimes.count - 1)] < Self.silent }
    }

    /// The values for the central at a place.
    func count(place: Int) -> Int { counts[min(place, counts.count - 1)] }

    /// All rows.
    ///
    /// - Parameter reachesEach: Whether bluetoothd reaches each of several subscribers alone: only then does
    ///   each get values at the speed of its own link.
    /// - Returns: The rows.
    static func all(reachesEach: Bool) -> [BackpressureRow] {
        equal + [different(reachesEach)] + (reachesEach ? shared : []) + newest
    }

    private static let equal: [BackpressureRow] = [1, 4].flatMap { centrals in
        ([5, 1, 0] as [Double]).flatMap { packetTime in
            [20, 244].map { size in
                let count = (packetTime == 5 ? 600 : 1_200) / (centrals == 1 ? 1 : 2)
                return BackpressureRow(
                    packetTimes: [packetTime],
                    size: size,
                    centrals: centrals,
                    counts: [count]
                )
            }
        }
    }

    /// As many as take about five seconds on each link.
    private static func different(_ reachesEach: Bool) -> BackpressureRow {
        BackpressureRow(
            packetTimes: [0, 1, 5, 20],
            size: 20,
            centrals: 4,
            counts: reachesEach ? [1_500, 1_500, 1_000, 250] : [250]
        )
    }

    /// Fast links beside slow and silent ones.
    private static let shared: [BackpressureRow] = [
        [5, 50], [5, 20], [5, 5, 20], [5, 20, 20, 20, 20], [5, 5, silent], [5, silent],
    ].map { packetTimes in
        BackpressureRow(
            packetTimes: packetTimes,
            size: 20,
            centrals: packetTimes.count,
            counts: packetTimes.map { packetTime in
                // The slow links have more to carry, so that they are busy until the end. What a silent link
                // gets waits in the queue of the program.
                packetTime == silent ? 18 : Int((packetTime > 5 ? 20_000 : 5_000) / packetTime)
            }
        )
    }

    private static let newest: [BackpressureRow] = ([20, 5, 1, 0] as [Double]).flatMap { packetTime in
        [1, 20].map { interval in
            BackpressureRow(
                packetTimes: [packetTime],
                size: 20,
                centrals: 1,
                // On a slow link, few of them are sent.
                counts: [packetTime > 5 && interval == 1 ? 4_000 : 500],
                interval: interval
            )
        }
    }
}
