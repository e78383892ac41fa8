import PeripheralCore
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct IndicationQueuesTests {
    private static let one = Central.ID(address: .numbered(1))
    private static let two = Central.ID(address: .numbered(2))

    private func update(_ number: UInt64, to recipients: Update.Recipients = .central(one)) -> Update {
        Update(
            id: Update.ID(number),
            characteristic: 3,
            value: [],
            recipients: recipients,
            awaitsConfirmation: true
        )
    }

    @Test func oneIsOutstandingForACentral() {
        var queues = IndicationQueues()
        #expect(queues.submit(update(1)) == update(1))
        #expect(queues.submit(update(2)) == nil)
        #expect(queues.submit(update(3)) == nil)
        #expect(queues.ended(Update.ID(1)) == update(2))
        #expect(queues.ended(Update.ID(2)) == update(3))
        #expect(queues.ended(Update.ID(3)) == nil)
        #expect(queues.submit(update(4)) == update(4))
    }

    @Test func centralsDoNotWaitForEachOther() {
        var queues = IndicationQueues()
        #expect(queues.submit(update(1)) == update(1))
        #expect(queues.submit(update(2, to: .central(Self.two))) == update(2, to: .central(Self.two)))
        #expect(queues.submit(update(3, to: .subscribers)) == update(3, to: .subscribers))
    }

    @Test func oneThatWaitsCanBeWithdrawn() {
        var queues = IndicationQueues()
        _ = queues.submit(update(1))
        _ = queues.submit(update(2))
        _ = queues.submit(update(3))
        queues.withdraw(Update.ID(2))
        #expect(queues.ended(Update.ID(1)) == update(3))
    }

    @Test func oneThatIsOutstandingCannotBeWithdrawn() {
        var queues = IndicationQueues()
        _ = queues.submit(update(1))
        queues.withdraw(Update.ID(1))
        #expect(queues.submit(update(2)) == nil)
        #expect(queues.ended(Update.ID(1)) == update(2))
    }

    @Test func aCentralThatLeavesTakesItsOwnAlong() {
        var queues = IndicationQueues()
        _ = queues.submit(update(1))
        _ = queues.submit(update(2))
        _ = queues.submit(update(3, to: .central(Self.two)))
        #expect(queues.disconnected(Self.one) == [Update.ID(1), Update.ID(2)])
        #expect(queues.submit(update(4)) == update(4))
        #expect(queues.submit(update(5, to: .central(Self.two))) == nil)
    }

    @Test func theEndOfAnUnknownOneChangesNothing() {
        var queues = IndicationQueues()
        _ = queues.submit(update(1))
        #expect(queues.ended(Update.ID(9)) == nil)
        #expect(queues.submit(update(2)) == nil)
    }
}
