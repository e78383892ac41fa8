import Glibc
import PeripheralCore
import PeripheralTesting
import Synchronization

/// Measures what is on its way to centrals that are sent as much as they take, on links of several speeds.
///
/// How many may be on their way depends on how the peripheral knows what has left, which follows from what
/// the runner is allowed: see `Tests/System/README.md`.
struct BackpressureRun {
    private typealias Row = BackpressureRow
    private typealias Times = BackpressureTimes

    private let adapter: DeviceAddress
    private let pairs: Int
    private let rows: [BackpressureRow]

    /// Prepares a run on an adapter of the rig.
    ///
    /// - Parameters:
    ///   - adapter: The address of the adapter.
    ///   - pairs: How often each link is measured, in turn with an unbounded sender. Two runs of the same
    ///     sender differ by a fifth: program, daemon, radio and centrals share one processor.
    ///   - reachesEach: Whether bluetoothd reaches each subscriber alone.
    init(on adapter: DeviceAddress, pairs: Int = 1, reachesEach: Bool) {
        self.adapter = adapter
        self.pairs = pairs
        rows = Row.all(reachesEach: reachesEach)
    }

    /// Runs the rows whose names contain all these words.
    ///
    /// Returns whether each row passed: the values in flight kept their bound, and the expected values
    /// arrived.
    func run(_ program: String, _ words: [String]) async throws -> Bool {
        let failures = Mutex(0)
        let rows = rows.filter { row in
            Set(words.map { Substring($0) }).isSubset(of: row.name.split(separator: " "))
        }
        try await CentralPool.run(program) { pool in
            for row in rows {
                let isRowKept =
                    if row.interval != nil {
                        reportNewest(row, try await measure(row, pool))
                    } else if row.packetTimes.count > 1 {
                        reportEach(row, try await measure(row, pool))
                    } else {
                        try await compare(row, pool)
                    }
                if !isRowKept { failures.withLock { $0 += 1 } }
                fflush(nil)
            }
        }
        let failed = failures.withLock(\.self)
        print("\(rows.count - failed) passed, \(failed) failed")
        return failed == 0 && !rows.isEmpty
    }

    /// Measures a row in turn with an unbounded sender, and prints the medians.
    private func compare(_ row: Row, _ pool: CentralPool) async throws -> Bool {
        var (rates, shares): ([Double], [Double]) = ([], [])
        var (times, others) = (Times(), Times())
        var most = 0
        var (isComplete, isBounded) = (true, true)
        for _ in 0..<pairs {
            times = try await measure(row, pool)
            others = try await measure(row, pool, isUnbounded: true)
            rates.append(times.rate)
            shares.append(times.rate / max(others.rate, 1))
            most = max(most, times.mostUnderWay)
            isBounded = isBounded && most <= Self.bound(times.completionReporting)
            isComplete = isComplete && self.isComplete(times, row)
        }
        rates.sort()
        shares.sort()
        let percents = shares.map { Int($0 * 100) }
        print(
            "\(isComplete && isBounded ? "ok   " : "FAIL ") \(row.name): \(times.completionReporting), at most \(most) on their way, "
                + "\(Int(rates[pairs / 2])) a second\(Self.shareOfLinks(rates[pairs / 2], row)), "
                + "\(percents[pairs / 2]) % of an unbounded sender (\(percents[0]) to \(percents[pairs - 1]) % in \(pairs) pairs)"
                + (isComplete ? "" : ", not all of \(row.counts[0]) arrived once and in order")
        )
        print("      processor: \(times.shares); of the unbounded: \(others.shares)")
        return isComplete && isBounded
    }

    private static func shareOfLinks(_ rate: Double, _ row: Row) -> String {
        guard row.packetTimes[0] > 0 else { return "" }
        return " (\(Int(rate * row.packetTimes[0] / 10 / Double(row.centrals))) % of what the links carry)"
    }

    private static func bound(_ completionReporting: String) -> Int {
        completionReporting == "observed" ? 32 : 256
    }

    private func isComplete(_ times: Times, _ row: Row) -> Bool {
        row.reachedPlaces.allSatisfy { place in
            let address = CentralPool.address(place: place)?.description ?? ""
            return times.arrived[address[...]]?.map(\.number) == Array(0..<row.count(place: place))
        }
    }

    /// Prints the rate of each central on a link of its own speed.
    private func reportEach(_ row: Row, _ times: Times) -> Bool {
        let most = times.mostUnderWay
        let isComplete = isComplete(times, row)
        let isKept = isComplete && most <= Self.bound(times.completionReporting)
        let rates = times.arrived.keys.sorted().map { "\(Int(times.rate(of: $0)))" }.joined(separator: "/")
        print(
            "\(isKept ? "ok   " : "FAIL ") \(row.name): \(times.completionReporting), at most \(most) on their way, \(rates) a second"
                + (isComplete ? "" : ", not all of \(row.counts) arrived once and in order")
        )
        print("      processor: \(times.shares)")
        return isKept
    }

    private func reportNewest(_ row: Row, _ times: Times) -> Bool {
        let arrivals = times.arrived.values.first ?? []
        let accepted = times.accepted["all"] ?? []
        let ages = arrivals.filter { accepted.indices.contains($0.number) }.map {
            $0.time - accepted[$0.number]
        }.sorted()
        let numbers = arrivals.map(\.number)
        let isKept =
            numbers.last == row.counts[0] - 1 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        let median = ages.isEmpty ? 0 : ages[ages.count / 2]
        print(
            "\(isKept ? "ok   " : "FAIL ") \(row.name): \(times.completionReporting), \(ages.count) of \(row.counts[0]) arrived, "
                + "in the median \(Int(median * 1e3)) ms old, at most \(Int((ages.last ?? 0) * 1e3)) ms"
        )
        return isKept
    }
}

// MARK: - Measuring

extension BackpressureRun {
    private func measure(
        _ row: BackpressureRow,
        _ pool: CentralPool,
        isUnbounded: Bool = false
    ) async throws -> BackpressureTimes {
        var counts: [String?: Int] = [nil: row.counts[0]]
        if row.counts.count > 1 {
            let places = (0..<row.centrals).map {
                (CentralPool.address(place: $0)?.description, row.count(place: $0))
            }
            counts = Dictionary(uniqueKeysWithValues: places)
        }
        let work = BulkOrder.Work.values(size: row.size, counts: counts, intervalInMilliseconds: row.interval)
        let order = BulkOrder(work, centrals: row.centrals, isUnbounded: isUnbounded)
        return try await BulkProcess.run(order, packetTimes: row.packetTimes, on: adapter, from: pool) {
            process,
            lines in
            try Rig.radio("arrivals")
            var times = BackpressureTimes()
            let (start, before) = (BulkProgram.time, ProcessTable.processorTimes(program: process.identifier))
            times.completionReporting = try await process.begin(&lines)
            try await BulkProcess.expect("sent", from: &lines)
            try await wait(for: row, &times)
            let (end, after) = (BulkProgram.time, ProcessTable.processorTimes(program: process.identifier))
            try await process.order()
            while case let words = try await process.next(from: &lines), words.first != "told" {
                times.takeAccepted(words)
            }
            times.shares = ProcessTable.shares(after, since: before, in: end - start)
            return times
        }
    }

    /// Asks the radio what has arrived at the centrals' controllers: the centrals themselves share the
    /// processor with everything else, and come to it later.
    private func wait(for row: BackpressureRow, _ times: inout BackpressureTimes) async throws {
        let start = BulkProgram.time
        var isComplete = false
        while !isComplete, BulkProgram.time - start < 60 {
            try await Task.sleep(for: .milliseconds(300))
            for line in try Rig.radio("arrivals") { times.takeArrival(line) }
            isComplete = row.reachedPlaces.allSatisfy { place in
                let address = CentralPool.address(place: place)?.description ?? ""
                return times.arrived[address[...]]?.last?.number == row.count(place: place) - 1
            }
        }
    }
}
