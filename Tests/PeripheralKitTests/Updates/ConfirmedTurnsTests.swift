import PeripheralCore
import Testing

@testable import PeripheralKit

/// The turns of indications, each with a value of its own.
@Suite(.timeLimit(.minutes(1)))
struct ConfirmedTurnsTests {
    private let one = Central.ID(address: .numbered(1))
    private let two = Central.ID(address: .numbered(2))
    private let three = Central.ID(address: .numbered(3))

    /// The queues, and the updates in flight.
    private struct Model {
        var queues = TransmitQueues(policies: [:])
        var inFlight: [BackendUpdate] = []
        var answers: [TransmitQueues.Ticket: Result<Void, PeripheralError>] = [:]

        mutating func subscribe(_ centrals: Central.ID..., to characteristic: AttributeHandle) {
            for central in centrals {
                queues.subscribed(central, to: characteristic, isAddressable: true)
            }
        }

        /// Indicates the number, which is the ticket as well, and returns what is sent.
        mutating func indicate(
            _ number: UInt8,
            to recipients: BackendUpdate.Recipients,
            of characteristic: AttributeHandle = 3
        ) -> [UInt8] {
            let ticket = TransmitQueues.Ticket(number)
            queues.indicate(ticket, [number], of: characteristic, to: recipients, at: .zero)
            return take()
        }

        mutating func end(_ number: UInt8, _ result: Result<Void, PeripheralError> = .success(())) -> [UInt8]
        {
            guard let index = inFlight.firstIndex(where: { $0.value == [number] }) else { return [] }
            queues.ended(inFlight.remove(at: index).id, result)
            return take()
        }

        mutating func take(at now: Duration = .zero) -> [UInt8] {
            let outcome = queues.takeOutcome(at: now)
            for (ticket, result) in outcome.answers { answers[ticket] = result }
            inFlight += outcome.updates
            return outcome.updates.map { $0.value.first ?? 0 }
        }

        func code(_ ticket: TransmitQueues.Ticket) -> PeripheralError.Code? {
            if case .failure(let error) = answers[ticket] { error.code } else { nil }
        }
    }

    private func model(subscribed centrals: Central.ID...) -> Model {
        var model = Model()
        for characteristic: AttributeHandle in [3, 6] {
            for central in centrals { model.subscribe(central, to: characteristic) }
        }
        return model
    }

    @Test func oneIsOutstandingForACentral() {
        var model = model(subscribed: one)
        let sent = (1...3).map { model.indicate($0, to: .central(one)) }
        #expect(sent == [[1], [], []])
        #expect(model.end(1) == [2])
        #expect(model.end(2) == [3])
        #expect(model.end(3) == [])
        #expect(model.indicate(4, to: .central(one), of: 6) == [4])
        #expect(model.answers.count == 3)
    }

    @Test func centralsDoNotWaitForEachOther() {
        var model = model(subscribed: one, two)
        let sent = [one, two].map { model.indicate(1, to: .central($0)) }
        #expect(sent == [[1], [1]])
    }

    @Test func characteristicsDoNotWaitForEachOtherUnlessTheyReachTheSame() {
        var model = Model()
        model.subscribe(one, to: 3)
        model.subscribe(two, to: 6)
        model.subscribe(one, two, to: 9)
        model.subscribe(three, to: 12)
        let sent = [3, 6, 9, 12].map { (handle: UInt8) in
            model.indicate(handle, to: .subscribers, of: AttributeHandle(rawValue: UInt16(handle)))
        }
        #expect(sent == [[3], [6], [], [12]])
        #expect(model.end(3) == [])
        #expect(model.end(6) == [9])
    }

    /// The stack does not identify the subscribers.
    @Test func thoseForUnknownSubscribersKeepTheirOrder() {
        var model = Model()
        for characteristic: AttributeHandle in [3, 6] {
            model.queues.subscribed(nil, to: characteristic, isAddressable: false)
        }
        #expect(model.indicate(1, to: .subscribers) == [1])
        #expect(model.indicate(2, to: .subscribers) == [])
        #expect(model.indicate(3, to: .subscribers, of: 6) == [3])
        #expect(model.end(1) == [2])
    }

    @Test func oneForAllSubscribersIsNotOvertakenForEver() {
        var model = model(subscribed: one, two)
        #expect(model.indicate(1, to: .central(one), of: 6) == [1])
        #expect(model.indicate(2, to: .subscribers) == [])
        #expect(model.indicate(3, to: .central(two), of: 6) == [])
        #expect(model.indicate(4, to: .central(one), of: 6) == [])
        #expect(model.end(1) == [2])
        #expect(model.end(2) == [3, 4])
    }

    /// Each subscriber of the moment at which it is sent confirms it.
    @Test func oneForAllSubscribersAlsoWaitsForWhoHasSubscribedMeanwhile() {
        var model = model(subscribed: one)
        model.subscribe(two, to: 6)
        #expect(model.indicate(1, to: .central(one)) == [1])
        #expect(model.indicate(2, to: .subscribers) == [])
        #expect(model.indicate(3, to: .central(two), of: 6) == [3])
        model.subscribe(two, to: 3)
        #expect(model.end(1) == [])
        #expect(model.end(3) == [2])
    }

    @Test func oneThatWaitsCanBeWithdrawn() {
        var model = model(subscribed: one)
        for number: UInt8 in 1...3 { _ = model.indicate(number, to: .central(one)) }
        let wasWaiting = model.queues.cancel(2)
        #expect(wasWaiting)
        #expect(model.end(1) == [3])
        #expect(model.answers[2] == nil)
    }

    @Test func whoHasWaitedForOneThatIsWithdrawnGoesOn() {
        var model = model(subscribed: one, two)
        _ = model.indicate(1, to: .central(one), of: 6)
        _ = model.indicate(2, to: .subscribers)
        _ = model.indicate(3, to: .central(two), of: 6)
        let wasWaiting = model.queues.cancel(2)
        #expect(wasWaiting)
        #expect(model.take() == [3])
    }

    /// The call ends, and the next still waits for the confirmation.
    @Test func oneThatIsOutstandingKeepsItsTurn() {
        var model = model(subscribed: one)
        _ = model.indicate(1, to: .central(one))
        let wasWaiting = (1...2).map { _ in model.queues.cancel(1) }
        #expect(wasWaiting == [true, false])
        #expect(model.indicate(2, to: .central(one)) == [])
        #expect(model.end(1) == [2])
        #expect(model.answers[1] == nil)
    }

    @Test func aCentralThatLeavesTakesItsOwnAlong() {
        var model = model(subscribed: one, two)
        #expect(model.indicate(1, to: .central(one)) == [1])
        #expect(model.indicate(2, to: .central(one)) == [])
        #expect(model.indicate(3, to: .subscribers) == [])
        model.queues.disconnected(one)
        #expect(model.take() == [3])
        #expect([1, 2].map(model.code) == [.disconnected, .disconnected])
        #expect(model.indicate(4, to: .central(two)) == [])
        // What the stack reports of it later changes nothing.
        #expect(model.end(1) == [])
        #expect(model.end(3) == [4])
    }

    @Test func whoseSubscriptionEndsGetsNothingThatWaits() {
        var model = model(subscribed: one)
        _ = model.indicate(1, to: .central(one), of: 6)
        _ = model.indicate(2, to: .central(one))
        _ = model.indicate(3, to: .subscribers)
        model.queues.unsubscribed(one, from: 3)
        #expect(model.take() == [])
        #expect(model.code(2) == .notSubscribed)
        // No subscriber is left to confirm it.
        #expect(model.answers[3] != nil && model.code(3) == nil)
    }

    @Test func whoSubscribesAgainGetsWhatWaitsForAll() {
        var model = model(subscribed: one)
        _ = model.indicate(1, to: .central(one), of: 6)
        _ = model.indicate(2, to: .subscribers)
        model.subscribe(one, to: 3)
        #expect(model.end(1) == [2])
        #expect(model.end(2) == [])
        #expect(model.answers[2] != nil && model.code(2) == nil)
    }

    /// The turn of the one that was cancelled is not the turn of the next.
    @Test func aDocumentBehindAValueWaitsForTheValue() {
        var model = model(subscribed: one)
        let document = Document(bytes: [1], chunkSize: 20, endMarker: nil, isConfirmed: true)
        _ = model.indicate(9, to: .central(one), of: 6)
        model.queues.begin(1, document, of: 3, to: .centrals([one]), isStanding: false)
        _ = model.take()
        _ = model.queues.offer([5], of: 3, to: .central(one))
        model.queues.begin(2, document, of: 3, to: .centrals([one]), isStanding: false)
        _ = model.queues.cancel(1)
        #expect(model.take() == [5])
        #expect(model.end(9) == [])
        #expect(model.end(5) == [1])
    }

    @Test func thereIsNothingToConfirmWithoutSubscribers() {
        var model = model(subscribed: one)
        #expect(model.indicate(1, to: .subscribers, of: 9) == [])
        #expect(model.indicate(2, to: .central(two)) == [])
        #expect(model.answers[1] != nil && model.code(1) == nil)
        #expect(model.code(2) == .notSubscribed)
    }

    @Test func offTheAirNobodyConfirms() {
        var model = model(subscribed: one)
        _ = model.indicate(1, to: .subscribers)
        _ = model.indicate(2, to: .subscribers)
        model.queues.suspended()
        _ = model.take()
        #expect([1, 2].map(model.code) == [.disconnected, .disconnected])
    }

    /// Its turn lasts until the stack has ended it.
    @Test func oneThatIsNotConfirmedInTimeIsGivenUp() {
        var model = model(subscribed: one, two)
        _ = model.indicate(1, to: .central(one))
        _ = model.indicate(2, to: .central(one))
        #expect(model.queues.nextDeadline() == TransmitQueues.confirmationLimit)
        let late = model.queues.deadlinesPassed(at: TransmitQueues.confirmationLimit)
        #expect(late == model.inFlight.map(\.id))
        #expect(model.take() == [])
        #expect(model.code(1) == .unconfirmed)
        #expect(model.queues.nextDeadline() == nil)
        #expect(model.queues.deadlinesPassed(at: .seconds(100)).isEmpty)
        #expect(QueueReport.ofEachCharacteristic(in: model.queues).map(\.counters.inFlight) == [0])
        #expect(model.end(1, .failure(PeripheralError(code: .unconfirmed, message: ""))) == [2])
        #expect(QueueReport.ofEachCharacteristic(in: model.queues).map(\.counters.givenUp) == [1])
    }

    @Test func onlyTheFirstDeadlineIsReported() {
        var queues = TransmitQueues(policies: [:])
        for central in [one, two] { queues.subscribed(central, to: 3, isAddressable: true) }
        queues.indicate(1, [1], of: 3, to: .central(one), at: .zero)
        let first = queues.takeOutcome(at: .zero)
        #expect(first.hasEarlierDeadline)
        queues.indicate(2, [2], of: 3, to: .central(two), at: .zero)
        let second = queues.takeOutcome(at: .seconds(1))
        #expect(second.updates.count == 1 && !second.hasEarlierDeadline)
        for update in first.updates { queues.ended(update.id, .success(())) }
        #expect(queues.nextDeadline() == .seconds(1) + TransmitQueues.confirmationLimit)
        for update in second.updates { queues.ended(update.id, .success(())) }
        #expect(queues.nextDeadline() == nil)
        queues.indicate(3, [3], of: 3, to: .central(one), at: .seconds(2))
        let third = queues.takeOutcome(at: .seconds(2))
        #expect(third.hasEarlierDeadline)
    }

    @Test func whatHasWaitedForADocumentDoesNotOvertakeWhatHasGoneMeanwhile() {
        var model = model(subscribed: one, two)
        let document = Document(bytes: [1], chunkSize: 20, endMarker: nil, isConfirmed: true)
        model.queues.begin(9, document, of: 3, to: .centrals([one]), isStanding: false)
        model.queues.begin(10, document, of: 3, to: .centrals([one]), isStanding: false)
        #expect(model.take() == [1])
        #expect(model.indicate(2, to: .subscribers) == [])
        // It reaches a central that no document reaches, and does not overtake the value before it.
        #expect(model.indicate(3, to: .central(two)) == [])
        #expect(model.indicate(4, to: .central(two), of: 6) == [4])
        #expect(model.end(1) == [1])
        #expect(model.end(1) == [])
        #expect(model.end(4) == [2])
        #expect(model.end(2) == [3])
    }
}
