import PeripheralCore
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct IndicationQueuesTests {
    private static let one = Central.ID(address: .numbered(1))
    private static let two = Central.ID(address: .numbered(2))
    private static let three = Central.ID(address: .numbered(3))

    private func update(
        _ number: UInt64,
        to recipients: BackendUpdate.Recipients = .central(one),
        of characteristic: AttributeHandle = 3
    ) -> BackendUpdate {
        BackendUpdate(
            id: BackendUpdate.ID(number),
            characteristic: characteristic,
            value: [],
            recipients: recipients,
            awaitsConfirmation: true
        )
    }

    /// Submits an indication to one central.
    private func submit(_ number: UInt64, to central: Central.ID, _ queues: inout IndicationQueues) -> Bool {
        let update = update(number, to: .central(central))
        return queues.submit(update, reaching: [central]) == update
    }

    /// Submits an indication to all who have subscribed to a characteristic.
    private func submit(
        _ number: UInt64,
        of characteristic: AttributeHandle,
        reaching centrals: [Central.ID],
        _ queues: inout IndicationQueues
    ) -> Bool {
        let update = update(number, to: .subscribers, of: characteristic)
        return queues.submit(update, reaching: centrals) == update
    }

    private func numbers(_ updates: [BackendUpdate]) -> [UInt64] {
        updates.map { update in (0...9).first { BackendUpdate.ID($0) == update.id } ?? 99 }
    }

    private func end(_ number: UInt64, _ queues: inout IndicationQueues) -> [UInt64] {
        numbers(queues.ended(BackendUpdate.ID(number)))
    }

    @Test func oneIsOutstandingForACentral() {
        var queues = IndicationQueues()
        let isSent = (1...3).map { submit($0, to: Self.one, &queues) }
        #expect(isSent == [true, false, false])
        #expect(end(1, &queues) == [2])
        #expect(end(2, &queues) == [3])
        #expect(end(3, &queues) == [])
        let isNextSent = submit(4, to: Self.one, &queues)
        #expect(isNextSent)
    }

    @Test func centralsDoNotWaitForEachOther() {
        var queues = IndicationQueues()
        let isSent = [Self.one, Self.two].map { submit(1, to: $0, &queues) }
        #expect(isSent == [true, true])
    }

    @Test func characteristicsDoNotWaitForEachOtherUnlessTheyReachTheSame() {
        var queues = IndicationQueues()
        let isSent = [
            submit(1, of: 3, reaching: [Self.one], &queues),
            submit(2, of: 6, reaching: [Self.two], &queues),
            submit(3, of: 9, reaching: [Self.one, Self.two], &queues),
            submit(4, of: 12, reaching: [Self.three], &queues),
        ]
        #expect(isSent == [true, true, false, true])
        #expect(end(1, &queues) == [])
        #expect(end(2, &queues) == [3])
    }

    @Test func thoseForAllSubscribersKeepTheirOrderWhoeverTheyAre() {
        var queues = IndicationQueues()
        let isSent = [
            submit(1, of: 3, reaching: [], &queues), submit(2, of: 3, reaching: [], &queues),
            submit(3, of: 6, reaching: [], &queues),
        ]
        #expect(isSent == [true, false, true])
        #expect(end(1, &queues) == [2])
    }

    @Test func oneForAllSubscribersIsNotOvertakenForEver() {
        var queues = IndicationQueues()
        let isSent = [
            submit(1, to: Self.one, &queues), submit(2, of: 3, reaching: [Self.one, Self.two], &queues),
            submit(3, to: Self.two, &queues), submit(4, to: Self.one, &queues),
        ]
        #expect(isSent == [true, false, false, false])
        #expect(end(1, &queues) == [2])
        #expect(end(2, &queues) == [3, 4])
    }

    @Test func oneThatWaitsCanBeWithdrawn() {
        var queues = IndicationQueues()
        for number: UInt64 in 1...3 { _ = submit(number, to: Self.one, &queues) }
        #expect(queues.withdraw(BackendUpdate.ID(2)) == [])
        #expect(end(1, &queues) == [3])
    }

    @Test func whoHasWaitedForOneThatIsWithdrawnGoesOn() {
        var queues = IndicationQueues()
        _ = submit(1, to: Self.one, &queues)
        _ = submit(2, of: 3, reaching: [Self.one, Self.two], &queues)
        _ = submit(3, to: Self.two, &queues)
        #expect(numbers(queues.withdraw(BackendUpdate.ID(2))) == [3])
    }

    @Test func oneThatIsOutstandingCannotBeWithdrawn() {
        var queues = IndicationQueues()
        _ = submit(1, to: Self.one, &queues)
        #expect(queues.withdraw(BackendUpdate.ID(1)) == [])
        let isSent = submit(2, to: Self.one, &queues)
        #expect(!isSent)
        #expect(end(1, &queues) == [2])
    }

    @Test func aCentralThatLeavesTakesItsOwnAlong() {
        var queues = IndicationQueues()
        _ = submit(1, to: Self.one, &queues)
        _ = submit(2, to: Self.one, &queues)
        _ = submit(3, of: 3, reaching: [Self.one, Self.two], &queues)
        let (dropped, next) = queues.disconnected(Self.one)
        #expect(dropped == [BackendUpdate.ID(1), BackendUpdate.ID(2)])
        #expect(numbers(next) == [3])
        let isSent = [submit(4, to: Self.one, &queues), submit(5, to: Self.two, &queues)]
        #expect(isSent == [true, false])
    }

    @Test func theEndOfAnUnknownOneChangesNothing() {
        var queues = IndicationQueues()
        _ = submit(1, to: Self.one, &queues)
        #expect(end(9, &queues) == [])
        let isSent = submit(2, to: Self.one, &queues)
        #expect(!isSent)
        #expect(end(2, &queues) == [])
    }

    @Test func whatHasWaitedForADocumentDoesNotOvertakeWhatHasGoneMeanwhile() {
        var queues = IndicationQueues()
        let part = TransmitQueues.Indication(update: update(1), centrals: [Self.one], isFirst: true)
        #expect(queues.submit(part) == part.update)
        let isSent = submit(2, of: 3, reaching: [Self.one, Self.two], &queues)
        #expect(!isSent)
        let other = update(3, to: .central(Self.two), of: 5)
        #expect(queues.submit(other, reaching: [Self.two]) == other)
        #expect(end(1, &queues) == [])
        #expect(end(3, &queues) == [2])
    }
}
