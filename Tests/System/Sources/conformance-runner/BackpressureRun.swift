import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Measures what is on its way to centrals that are sent as much as they take, on links of several speeds.
///
/// How many may be on their way depends on how the peripheral knows what has left, which follows from what the runner is
/// allowed: see `Tests/System/README.md`.
struct BackpressureRun {
    /// One measurement.
    private struct Row {
        /// Milliseconds for each packet; 0 for no limit.
        var packetTime: Double
        var size: Int
        var centrals: Int
        var count: Int
        /// The time between two values of which only the newest counts; `nil` when each counts.
        var interval: Duration?

        var name: String {
            "\(packetTime) ms per packet, \(size) bytes, \(centrals) centrals"
                + (interval.map { ", newest of one per \($0)" } ?? "")
        }
    }

    /// What was done when, in seconds.
    private struct Times {
        var accepted: [Double] = []
        /// For each central, the values in their order.
        var arrived: [Substring: [Arrival]] = [:]
        var pacing = UpdatePacing.unknown
    }

    private struct Arrival {
        var number: Int
        var time: Double
    }

    private static let characteristicUUID: BluetoothUUID = "c0f000b0-7e3c-4b6e-9d29-b3f1c0a1d001"

    private static let rows: [Row] = [1, 4].flatMap { centrals in
        ([5, 1, 0] as [Double]).flatMap { packetTime in
            [20, 244].map { size in
                let count = (packetTime == 5 ? 600 : 1_200) / (centrals == 1 ? 1 : 2)
                return Row(packetTime: packetTime, size: size, centrals: centrals, count: count)
            }
        }
    }

    private static let newestRows: [Row] = ([5, 1, 0] as [Double]).flatMap { packetTime in
        [Duration.milliseconds(1), .milliseconds(20)].map { interval in
            Row(packetTime: packetTime, size: 20, centrals: 1, count: 500, interval: interval)
        }
    }

    private let adapter: DeviceAddress
    private let pairs: Int

    /// Prepares a run on an adapter of the rig.
    ///
    /// - Parameters:
    ///   - adapter: The address of the adapter.
    ///   - pairs: How often each link is measured, in turn with an unbounded sender. Two runs of the same sender differ by
    ///     a fifth: program, daemon, radio and centrals share one processor.
    init(on adapter: DeviceAddress, pairs: Int = 1) {
        self.adapter = adapter
        self.pairs = pairs
    }

    /// Runs all whose names have these words; tells whether no more was on its way than may be, and whether all arrived.
    func run(_ program: String, _ words: [String]) async throws -> Bool {
        let failures = Mutex(0)
        let rows = (Self.rows + Self.newestRows).filter { row in
            Set(words.map { Substring($0) }).isSubset(of: row.name.split(separator: " "))
        }
        try await CentralPool.run(program) { pool in
            for row in rows {
                let isRowKept =
                    row.interval == nil
                    ? try await compare(row, pool) : reportNewest(row, try await measure(row, pool))
                if !isRowKept { failures.withLock { $0 += 1 } }
                fflush(nil)
            }
        }
        await Rig.order(["speed 2.5"])
        let failed = failures.withLock(\.self)
        print("\(rows.count - failed) passed, \(failed) failed")
        return failed == 0 && !rows.isEmpty
    }

    /// Measures a row in turn with an unbounded sender, and tells the medians.
    private func compare(_ row: Row, _ pool: CentralPool) async throws -> Bool {
        var (rates, shares): ([Double], [Double]) = ([], [])
        var most = 0
        var (isComplete, isBounded) = (true, true)
        var pacing = UpdatePacing.unknown
        for _ in 0..<pairs {
            let times = try await measure(row, pool)
            let others = try await measure(row, pool, isUnbounded: true)
            rates.append(rate(of: times))
            shares.append(rate(of: times) / max(rate(of: others), 1))
            pacing = times.pacing
            most = max(most, times.arrived.values.map { mostUnderWay(times.accepted, $0) }.max() ?? 0)
            isBounded = isBounded && most <= Self.bound(times.pacing)
            isComplete = isComplete && self.isComplete(times, row)
        }
        rates.sort()
        shares.sort()
        let percents = shares.map { Int($0 * 100) }
        print(
            "\(isComplete && isBounded ? "ok   " : "FAIL ") \(row.name): \(pacing), at most \(most) on their way, "
                + "\(Int(rates[pairs / 2])) a second, \(percents[pairs / 2]) % of an unbounded sender "
                + "(\(percents[0]) to \(percents[pairs - 1]) % in \(pairs) pairs)"
                + (isComplete ? "" : ", not all of \(row.count) arrived once and in order")
        )
        return isComplete && isBounded
    }

    private static func bound(_ pacing: UpdatePacing) -> Int {
        switch pacing {
        case .observed: 32
        case .estimated, .unknown: 256
        }
    }

    private func isComplete(_ times: Times, _ row: Row) -> Bool {
        times.arrived.count == row.centrals
            && times.arrived.values.allSatisfy { $0.map(\.number) == Array(0..<row.count) }
    }

    private func rate(of times: Times) -> Double {
        let last = times.arrived.values.compactMap(\.last?.time).max() ?? 0
        let first = times.arrived.values.compactMap(\.first?.time).min() ?? 0
        return Double(times.arrived.values.reduce(0) { $0 + $1.count }) / max(last - first, 0.001)
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

    private func reportNewest(_ row: Row, _ times: Times) -> Bool {
        let arrivals = times.arrived.values.first ?? []
        let ages = arrivals.map { $0.time - times.accepted[$0.number] }.sorted()
        let numbers = arrivals.map(\.number)
        let isKept = numbers.last == row.count - 1 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        let median = ages.isEmpty ? 0 : ages[ages.count / 2]
        print(
            "\(isKept ? "ok   " : "FAIL ") \(row.name): \(times.pacing), \(ages.count) of \(row.count) arrived, "
                + "in the median \(Int(median * 1e3)) ms old, at most \(Int((ages.last ?? 0) * 1e3)) ms"
        )
        return isKept
    }
}

// MARK: - Measuring

extension BackpressureRun {
    private func measure(
        _ row: Row,
        _ pool: CentralPool,
        isUnbounded: Bool = false
    ) async throws -> Times {
        let policy = row.interval == nil ? UpdatePolicy.reject : .latest
        let bulk = Characteristic<[UInt8]>(Self.characteristicUUID, .notify, updates: policy)
        let peripheral = Peripheral("Bulk") {
            GATTService("c0f000b1-7e3c-4b6e-9d29-b3f1c0a1d001") { bulk }
        }
        let bluez = BlueZBackend.bluez(recovery: .never)
        let backend: any PeripheralBackend = isUnbounded ? UnboundedBackend(backend: bluez) : bluez
        return try await peripheral.run(on: backend) { session in
            let first = BumbleCentral(of: peripheral, on: adapter, from: pool)
            let centrals = [first] + (1..<row.centrals).map { _ in first.makeAnother() }
            for central in centrals {
                try await central.connect(mtu: 517)
                try await central.subscribe(central.locate(bulk).valueHandle, to: .notification)
            }
            while session.subscriptions.count < row.centrals { try await Task.sleep(for: .milliseconds(20)) }
            await Rig.order(["speed \(row.packetTime)"])
            _ = await Rig.ask("arrivals")
            var times = Times(pacing: session.pacing)
            times.accepted = try await send(row, over: bulk, in: session)
            try await wait(for: row, &times)
            await Rig.order(["speed 2.5"])
            for central in centrals { try await central.disconnect() }
            return times
        }
    }

    private func send(
        _ row: Row,
        over bulk: Characteristic<[UInt8]>,
        in session: PeripheralSession
    ) async throws -> [Double] {
        var times: [Double] = []
        let padding = [UInt8](repeating: 0x55, count: row.size - 4)
        for number in 0..<UInt32(row.count) {
            let value = number.gattBytes + padding
            while try !session.update(bulk, value) { try await session.readyToUpdate(bulk) }
            times.append(monotonicTime())
            if let interval = row.interval { try await Task.sleep(for: interval) }
        }
        return times
    }

    /// Asks the radio what has arrived at the centrals' controllers: the centrals themselves share the processor with
    /// everything else, and come to it later.
    private func wait(for row: Row, _ times: inout Times) async throws {
        let start = monotonicTime()
        var isComplete = false
        while !isComplete, monotonicTime() - start < 60 {
            try await Task.sleep(for: .milliseconds(300))
            for line in await Rig.ask("arrivals") {
                let fields = line.split(separator: " ")
                guard fields.count == 3, let head = UInt32(fields[1], radix: 16), let time = Double(fields[2])
                else { continue }
                let arrival = Arrival(number: Int(head.byteSwapped), time: time / 1e6)
                times.arrived[fields[0], default: []].append(arrival)
            }
            isComplete =
                times.arrived.count == row.centrals
                && times.arrived.values.allSatisfy { $0.last?.number == row.count - 1 }
        }
    }
}

/// The time of the clock by which the radio tells when something came, in seconds.
private func monotonicTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
