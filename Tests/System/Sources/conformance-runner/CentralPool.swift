import PeripheralCore
import PeripheralTesting
import Synchronization

/// The central processes of a run, started when they are first asked for.
///
/// Each stands for one of the centrals of a scenario, with one MTU, in every scenario.
///
/// The MTU that a central agrees to is fixed when its process opens, and a process takes a second to start.
final class CentralPool: Sendable {
    private struct Key: Hashable, Sendable {
        var place: Int
        var mtu: Int
    }

    private struct Order: Sendable {
        var mtu: Int
        var address: DeviceAddress
        var delivery: CheckedContinuation<BumbleProcess, any Error>
    }

    private let processes = Mutex<[Key: BumbleProcess]>([:])
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

    /// The process of a central that agrees to this MTU.
    ///
    /// - Parameters:
    ///   - place: The central's place among those of its scenario, from 0.
    ///   - mtu: The MTU.
    /// - Returns: The process, with its central open.
    /// - Throws: When the process cannot be started.
    func process(place: Int, mtu: Int) async throws -> BumbleProcess {
        let key = Key(place: place, mtu: mtu)
        if let process = processes.withLock({ $0[key] }) { return process }
        let address = DeviceAddress(rawValue: 0xF0_00_00_00_00_00 | UInt64(place) << 16 | UInt64(mtu))
        guard let address else {
            throw TestCentralError(code: .invalidArgument, message: "\(mtu) is no MTU.")
        }
        let process = try await withCheckedThrowingContinuation { delivery in
            _ = orders.yield(Order(mtu: mtu, address: address, delivery: delivery))
        }
        processes.withLock { $0[key] = process }
        return process
    }

    private func serve(_ order: Order, _ program: String) async {
        let isDelivered = Mutex(false)
        do {
            try await BumbleProcess.run(program, address: order.address, mtu: order.mtu) { process in
                isDelivered.withLock { $0 = true }
                order.delivery.resume(returning: process)
                for await _ in self.open {}
            }
        } catch {
            if !isDelivered.withLock({ $0 }) { order.delivery.resume(throwing: error) }
        }
    }
}
