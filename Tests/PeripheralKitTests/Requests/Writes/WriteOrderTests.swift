import TestSupport
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

    private static func write(
        to attribute: UInt16 = 1,
        by central: Central,
        expectsResponse: Bool = true
    ) -> BackendWriteRequest {
        BackendWriteRequest(
            attribute: AttributeHandle(rawValue: attribute),
            value: [],
            expectsResponse: expectsResponse,
            central: central
        )
    }

    @Test func ticketsAreServedInTheirOrderWhoeverComesFirst() async throws {
        let order = WriteOrder()
        let tickets = try (0..<20).map { _ in try #require(order.ticket(for: Self.write(by: Self.alice))) }
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
        let waiting = try #require(order.ticket(for: Self.write(by: Self.alice)))
        let other = try #require(order.ticket(for: Self.write(by: Self.bob)))
        #expect(await order.run(other) { 1 } == 1)
        #expect(await order.run(waiting) { 2 } == 2)
    }

    @Test func aWriteThatWasGivenUpIsNotCarriedOut() async throws {
        let order = WriteOrder()
        let first = try #require(order.ticket(for: Self.write(by: Self.alice)))
        let second = try #require(order.ticket(for: Self.write(by: Self.alice)))
        let third = try #require(order.ticket(for: Self.write(by: Self.alice)))
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
        let first = try #require(order.ticket(for: Self.write(by: Self.alice)))
        let second = try #require(order.ticket(for: Self.write(by: Self.alice)))
        #expect(order.ticket(for: Self.write(by: Self.alice)) == nil)
        #expect(order.ticket(for: Self.write(by: Self.bob)) != nil)
        await order.run(first) {}
        let third = try #require(order.ticket(for: Self.write(by: Self.alice)))
        await order.run(second) {}
        await order.run(third) {}
    }

    @Test func onlyCommandsOfTheSameCentralToTheSameAttributeAreWaitedFor() async throws {
        let order = WriteOrder()
        let request = try #require(order.ticket(for: Self.write(to: 1, by: Self.alice)))
        let command = try #require(
            order.ticket(for: Self.write(to: 2, by: Self.alice, expectsResponse: false))
        )
        let attributes = [1, 2, 3].map { AttributeHandle(rawValue: $0) }
        #expect(attributes.map { order.command(to: $0, by: Self.alice) != nil } == [false, true, false])
        #expect(order.command(to: attributes[1], by: Self.bob) == nil)
        await order.run(request) {}
        #expect(order.command(to: attributes[1], by: Self.alice) != nil)
        await order.run(command) {}
        #expect(order.command(to: attributes[1], by: Self.alice) == nil)
    }

    @Test func whoWaitsForACommandGoesOnAfterIt() async throws {
        let order = WriteOrder()
        let write = Self.write(by: Self.alice, expectsResponse: false)
        let commands = try (0..<3).map { _ in try #require(order.ticket(for: write)) }
        let last = try #require(order.command(to: write.attribute, by: Self.alice))
        let seen = Log<String>()
        await withTaskGroup { group in
            for name in ["one", "other"] {
                group.addTask {
                    await order.end(of: last)
                    seen.append(name)
                }
            }
            for (number, command) in commands.enumerated() {
                await order.run(command) {
                    await Task.yield()
                    seen.append("\(number)")
                }
            }
        }
        #expect(seen.entries.prefix(3) == ["0", "1", "2"])
        #expect(Set(seen.entries.dropFirst(3)) == ["one", "other"])
        // What is over is not waited for, also when others are in the line that is there now.
        await order.end(of: last)
        let later = try #require(order.ticket(for: write))
        await order.end(of: last)
        await order.run(later) {}
    }
}
