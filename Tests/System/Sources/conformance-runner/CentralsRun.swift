import Glibc
import PeripheralCore
import PeripheralTesting
import Synchronization

/// Measures what each central costs when several centrals read and are subscribed at once.
///
/// The program sends values to all while each central reads a value again and again.
struct CentralsRun {
    private static let values = 1_000

    private let adapter: DeviceAddress
    private let counts: [Int]

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - adapter: The address of the adapter.
    ///   - counts: The numbers of centrals to measure, one after the other.
    init(on adapter: DeviceAddress, counts: [Int]) {
        (self.adapter, self.counts) = (adapter, counts)
    }

    /// Measures each number of centrals, and prints the processor time for a read and a notification.
    ///
    /// - Returns: Whether each read was answered, and all values have arrived.
    func run(_ program: String) async throws -> Bool {
        let failures = Mutex(0)
        try await CentralPool.run(program) { pool in
            for count in counts {
                if try await !measure(count, pool) { failures.withLock { $0 += 1 } }
                fflush(nil)
            }
        }
        return failures.withLock(\.self) == 0
    }

    /// - Returns: Whether all updates have arrived.
    private func measure(_ count: Int, _ pool: CentralPool) async throws -> Bool {
        let work = BulkOrder.Work.values(size: 20, counts: [nil: Self.values])
        let order = BulkOrder(work, centrals: count)
        return try await BulkProcess.run(order, packetTimes: [2.5], on: adapter, from: pool) {
            process,
            lines in
            try Rig.radio("arrivals")
            let handle = try await process.centrals[0].locate(process.level).valueHandle
            let before = ProcessTable.processorTimes(program: process.identifier)
            let start = BulkProgram.time
            _ = try await process.begin(&lines)
            try await withThrowingTaskGroup { group in
                for central in process.centrals {
                    group.addTask {
                        for _ in 0..<Self.values { _ = try await central.read(handle, offset: 0) }
                    }
                }
                try await group.waitForAll()
            }
            try await BulkProcess.expect("sent", from: &lines)
            let (end, after) = (BulkProgram.time, ProcessTable.processorTimes(program: process.identifier))
            let arrived = try await arrivals(upTo: count * Self.values)
            let isComplete = arrived == count * Self.values
            try await process.order()
            try await BulkProcess.expect("told", from: &lines)
            let exchanges = Double(count * Self.values)
            let cost = ["program", "bluetoothd"].map { name in
                let time = (after[name] ?? 0) - (before[name] ?? 0)
                return "\(name) \(Int(time / exchanges * 1e6)) µs"
            }
            print(
                "\(isComplete ? "ok   " : "FAIL ") \(count) centrals, each with \(Self.values) reads and "
                    + "\(Self.values) notifications in \(Int(end - start)) s, \(arrived) have arrived: "
                    + "for one read and one notification, \(cost.joined(separator: ", "))"
            )
            print("      processor: \(ProcessTable.shares(after, since: before, in: end - start))")
            return isComplete
        }
    }

    /// Returns the number of updates that have arrived since the last such order, after 10 s at the latest.
    private func arrivals(upTo expected: Int) async throws -> Int {
        let start = ContinuousClock.now
        var count = 0
        while count < expected, ContinuousClock.now - start < .seconds(10) {
            try await Task.sleep(for: .milliseconds(100))
            count += try Rig.radio("arrivals").count
        }
        return count
    }
}
