import BusTestSupport
import TestSupport
import Testing

@testable import PeripheralDBus

@Suite(.timeLimit(.minutes(1)))
struct BackpressureTests {
    @Test func theQueueTowardsTheBusCanBeAwaited() async throws {
        try await TestBus.run { test in
            // One message that no socket takes at once, so that the rest waits however fast the bus reads.
            let bytes = [UInt8](repeating: 0, count: 4_000_000)
            try await test.server.run { server in
                try server.emitPropertiesChanged("/m", "test.M", [("Value", .bytes(bytes))])
                #expect(server.outgoingSize > 0)
            }
            try await test.server.waitUntilOutgoing(isAtMost: 0)
            #expect(await test.server.outgoingSize == 0)
            try await test.server.waitUntilOutgoing(isAtMost: 0)
        }
    }

    @Test func waitingForTheQueueEndsWithTheTask() async throws {
        try await TestBus.run { test in
            let wait = Task {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                await #expect(throws: BusError.cancelled) {
                    try await test.server.waitUntilOutgoing(isAtMost: 0)
                }
            }
            await wait.value
        }
    }

    // MARK: - Order

    /// More than any socket takes at once.
    private static let bulk = [UInt8](repeating: 0, count: 4_000_000)

    /// Runs `body` with a connection whose queue is full.
    ///
    /// The bus reads nothing until the test calls `read()`.
    private func withFullQueue(_ body: (BusConnection, FakeBus) async throws -> Void) async throws {
        try await FakeBus.run(greeting: .followedByAPause) { bus, loop in
            let connection = try await BusConnection.connect(to: .address(bus.address), on: loop)
            let result: Result<Void, any Error>
            do {
                try await connection.emitPropertiesChanged("/m", "test.M", [("Value", .bytes(Self.bulk))])
                result = .success(try await body(connection, bus))
            } catch {
                result = .failure(error)
            }
            await connection.abandon()
            try result.get()
        }
    }

    private func untilWaiting(_ count: Int, for connection: BusConnection) async throws {
        try await until { await connection.run { $0.drainWaiters.count } >= count }
    }

    @Test func whoCameLaterDoesNotOvertake() async throws {
        try await withFullQueue { connection, bus in
            let order = Signal<Int>()
            // On the loop, where the order is made.
            @Sendable func wait(_ turn: Int, _ bound: Int, on connection: isolated BusConnection) async throws
            {
                try await connection.waitUntilOutgoing(isAtMost: bound)
                order.send(turn)
            }
            // The later ones would be content with the queue as it is.
            let bounds = [0, 8_000_000, 8_000_000]
            try await withThrowingTaskGroup { group in
                for (turn, bound) in bounds.enumerated() {
                    group.addTask { try await wait(turn, bound, on: connection) }
                    try await untilWaiting(turn + 1, for: connection)
                }
                bus.read()
                try await group.waitForAll()
            }
            for turn in bounds.indices { #expect(await order.next() == turn) }
        }
    }

    /// What one of them sends fills the queue for the next.
    @Test func thoseWhoWaitGoOnOneByOne() async throws {
        try await withFullQueue { connection, bus in
            @Sendable func take(_ turn: Int, on connection: isolated BusConnection) async throws -> Int {
                try await connection.waitUntilOutgoing(isAtMost: 1000)
                #expect(connection.outgoingSize <= 1000)
                try connection.emitPropertiesChanged("/m", "test.M", [("Value", .bytes(Self.bulk))])
                return turn
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for turn in 0..<4 {
                    group.addTask { try await take(turn, on: connection) }
                    try await untilWaiting(turn + 1, for: connection)
                }
                bus.read()
                var order: [Int] = []
                for try await turn in group { order.append(turn) }
                #expect(order.sorted() == [0, 1, 2, 3])
            }
        }
    }

    @Test func whoGivesUpHoldsNobodyUp() async throws {
        try await withFullQueue { connection, bus in
            let first = Task { try await connection.waitUntilOutgoing(isAtMost: 0) }
            try await untilWaiting(1, for: connection)
            let second = Task { try await connection.waitUntilOutgoing(isAtMost: 8_000_000) }
            try await untilWaiting(2, for: connection)
            first.cancel()
            await #expect(throws: BusError.cancelled) { try await first.value }
            // The bus has still taken nothing.
            try await second.value
        }
    }

    @Test func waitingTakesNoLongerThanItMay() async throws {
        try await withFullQueue { connection, bus in
            await #expect(throws: BusError.timedOut) {
                try await connection.waitUntilOutgoing(isAtMost: 0, timeout: .milliseconds(1))
            }
            #expect(await connection.run { $0.drainWaiters.isEmpty })
        }
    }

    @Test func allWhoWaitAreToldOfTheEnd() async throws {
        try await withFullQueue { connection, bus in
            let waits = [0, 1, 2].map { bound in
                Task { try await connection.waitUntilOutgoing(isAtMost: bound) }
            }
            try await untilWaiting(3, for: connection)
            await connection.abandon()
            for wait in waits {
                await #expect(throws: BusError.disconnected) { try await wait.value }
            }
        }
    }
}
