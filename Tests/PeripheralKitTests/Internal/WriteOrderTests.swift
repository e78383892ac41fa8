import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct WriteOrderTests {
    private static let alice = Central(address: address(1))
    private static let bob = Central(address: address(2))

    private static func address(_ number: UInt64) -> DeviceAddress {
        guard let address = DeviceAddress(rawValue: number) else { preconditionFailure("48 bits") }
        return address
    }

    @Test func ticketsAreServedInTheirOrderWhoeverComesFirst() async throws {
        let order = WriteOrder()
        let tickets = try (0..<20).map { _ in try #require(order.ticket(for: Self.alice)) }
        let served = Log<Int>()
        await withTaskGroup { group in
            for (number, ticket) in tickets.enumerated().reversed() {
                group.addTask {
                    await order.run(ticket) {
                        await Task.yield()
                        served.append(number)
                    }
                }
            }
        }
        #expect(served.entries == Array(0..<20))
    }

    @Test func oneCentralDoesNotWaitForAnother() async throws {
        let order = WriteOrder()
        let waiting = try #require(order.ticket(for: Self.alice))
        let other = try #require(order.ticket(for: Self.bob))
        #expect(await order.run(other) { 1 } == 1)
        #expect(await order.run(waiting) { 2 } == 2)
    }

    @Test func aWriteThatWasGivenUpIsNotCarriedOut() async throws {
        let order = WriteOrder()
        let first = try #require(order.ticket(for: Self.alice))
        let second = try #require(order.ticket(for: Self.alice))
        let third = try #require(order.ticket(for: Self.alice))
        let given = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await order.run(second) { 2 }
        }
        #expect(await order.run(first) { 1 } == 1)
        #expect(await given.value == nil)
        #expect(await order.run(third) { 3 } == 3)
    }

    @Test func aLineHasItsCapacity() async throws {
        let order = WriteOrder(capacity: 2)
        let first = try #require(order.ticket(for: Self.alice))
        let second = try #require(order.ticket(for: Self.alice))
        #expect(order.ticket(for: Self.alice) == nil)
        #expect(order.ticket(for: Self.bob) != nil)
        await order.run(first) {}
        let third = try #require(order.ticket(for: Self.alice))
        await order.run(second) {}
        await order.run(third) {}
    }
}
