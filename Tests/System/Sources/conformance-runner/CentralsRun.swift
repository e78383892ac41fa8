import Glibc
import PeripheralCore
import PeripheralTesting

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
    /// - Returns: Whether each read was answered and the program has sent all values.
    func run(_ program: String) async throws -> Bool {
        try await CentralPool.run(program) { pool in
            for count in counts {
                try await measure(count, pool)
                fflush(nil)
            }
        }
        return true
    }

    private func measure(_ count: Int, _ pool: CentralPool) async throws {
        let work = BulkOrder.Work.values(size: 20, counts: [nil: Self.values])
        let order = BulkOrder(work, centrals: count)
        try await BulkProcess.run(order, packetTimes: [2.5], on: adapter, from: pool) { process, lines in
            let handle = try await process.centrals[0].locate(process.level).valueHandle
            let (start, before) = (BulkProgram.time, ProcessTable.processorTimes(program: process.identifier))
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
            try await process.order()
            try await BulkProcess.expect("told", from: &lines)
            let exchanges = Double(count * Self.values)
            let cost = ["program", "bluetoothd"].map { name in
                let time = (after[name] ?? 0) - (before[name] ?? 0)
                return "\(name) \(Int(time / exchanges * 1e6)) µs"
            }
            print(
                "ok    \(count) centrals, each with \(Self.values) reads and \(Self.values) notifications "
                    + "in \(Int(end - start)) s: for one of both, \(cost.joined(separator: ", "))"
            )
            print("      processor: \(ProcessTable.shares(after, since: before, in: end - start))")
        }
    }
}
