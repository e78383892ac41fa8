import PeripheralCore
import PeripheralTesting
import Synchronization

/// The central processes of a run, started when they are first asked for.
///
/// Each stands for one of the centrals of a scenario, in every scenario: a process takes a second to start.
final class CentralPool: Sendable {
    private struct Order: Sendable {
        var address: DeviceAddress
        var delivery: CheckedContinuation<BumbleProcess, any Error>
    }

    private let processes = Mutex<[Int: BumbleProcess]>([:])
    private let hasPaired = Mutex(false)
    private let orders: AsyncStream<Order>.Continuation
    /// Ends when the pool does, and with it all processes.
    private let open: AsyncStream<Never>

    private init(orders: AsyncStream<Order>.Continuation, open: AsyncStream<Never>) {
        self.orders = orders
        self.open = open
    }

    /// Keeps a pool while the body runs.
    static func run(_ program: String, _ body: @escaping @Sendable (CentralPool) async throws -> Void)
        async throws
    {
        let (orders, orderer) = AsyncStream.makeStream(of: Order.self)
        let (open, closer) = AsyncStream.makeStream(of: Never.self)
        let pool = CentralPool(orders: orderer, open: open)
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { orderer.finish() }
                try await body(pool)
            }
            for await order in orders {
                group.addTask { await pool.serve(order, program) }
            }
            closer.finish()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }

    /// The process of a central.
    ///
    /// - Parameter place: The central's place among those of its scenario, from 0.
    /// - Returns: The process, with its central open.
    /// - Throws: When the process cannot be started.
    func process(place: Int) async throws -> BumbleProcess {
        if let process = processes.withLock({ $0[place] }) { return process }
        guard let address = Self.address(place: place) else {
            throw TestCentralError(code: .invalidArgument, message: "There are no \(place) centrals.")
        }
        let process = try await withCheckedThrowingContinuation { delivery in
            _ = orders.yield(Order(address: address, delivery: delivery))
        }
        processes.withLock { $0[place] = process }
        return process
    }

    /// The address of the central at a place.
    static func address(place: Int) -> DeviceAddress? {
        DeviceAddress(rawValue: 0xF0_00_00_00_00_01 + UInt64(place))
    }

    /// Notes that a central pairs, so that it is forgotten after the scenario.
    ///
    /// - Returns: Whether it is the first of the scenario.
    @discardableResult
    func notePairing() -> Bool {
        hasPaired.withLock { hasPaired in
            defer { hasPaired = true }
            return !hasPaired
        }
    }

    /// Has all centrals drop their keys, where any has paired since the last time.
    ///
    /// - Returns: Whether any has, so that the peripheral may have keys as well.
    func forgetBonds() async -> Bool {
        let hasPaired = hasPaired.withLock { hasPaired in
            defer { hasPaired = false }
            return hasPaired
        }
        guard hasPaired else { return false }
        for process in processes.withLock({ $0.values }) {
            _ = try? await process.ask("forget")
        }
        return true
    }

    private func serve(_ order: Order, _ program: String) async {
        let isDelivered = Mutex(false)
        do {
            try await BumbleProcess.run(program, address: order.address) { process in
                isDelivered.withLock { $0 = true }
                order.delivery.resume(returning: process)
                for await _ in self.open {}
            }
        } catch {
            if !isDelivered.withLock({ $0 }) { order.delivery.resume(throwing: error) }
        }
    }
}
