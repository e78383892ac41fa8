import PeripheralCore
import Testing

@testable import PeripheralKit

/// Documents in the queues: who gets which parts of them, and when they are done with.
///
/// A mark ends what a central has of a document that does not go on.
@Suite(.timeLimit(.minutes(1)))
struct TransferQueuesTests {
    private static let bulk: AttributeHandle = 3
    private static let other: AttributeHandle = 6
    private let a = Central.ID(address: .numbered(1))
    private let b = Central.ID(address: .numbered(2))
    private let c = Central.ID(address: .numbered(3))
    private let marker: [UInt8] = [0xFF, 0xFF]
    private let document = Document(bytes: Array(0..<100), chunkSize: 10, endMarker: [0xFF, 0xFF])
    /// Another one, of other bytes.
    private let next = Document(bytes: Array(100..<200), chunkSize: 10, endMarker: [0xFF, 0xFF])
    private let insecure = PeripheralError(code: .insufficientSecurity, message: "Not encrypted.")

    private func queues(
        _ subscribers: [Central.ID],
        window: Int = 4,
        policies: [AttributeHandle: UpdatePolicy] = [:]
    ) -> TransmitQueues {
        var queues = TransmitQueues(policies: policies, window: window)
        for central in subscribers { queues.subscribed(central, to: Self.bulk, isAddressable: true) }
        return queues
    }

    /// What has been sent, what is in flight of it, and the outcome.
    private struct Record {
        var sent: [BackendUpdate] = []
        var answers: [TransmitQueues.Ticket: PeripheralError.Code?] = [:]
        var progress: [TransferProgress] = []
        private(set) var underWay: [BackendUpdate] = []

        mutating func take(_ queues: inout TransmitQueues) {
            let outcome = queues.takeOutcome(at: .zero)
            for (ticket, result) in outcome.answers { answers[ticket] = result.code }
            progress += outcome.progress.map(\.1)
            sent += outcome.updates
            underWay += outcome.updates
        }

        /// Completes all updates, or at most `most` updates.
        ///
        /// An update for `lost` alone fails, because this central cannot be reached alone.
        mutating func drain(
            _ queues: inout TransmitQueues,
            at most: Int = .max,
            failing lost: Central.ID? = nil
        ) {
            var count = 0
            take(&queues)
            while !underWay.isEmpty, count < most {
                count += 1
                let update = underWay.removeFirst()
                let isLost = lost.map { update.recipients == .central($0) } ?? false
                queues.ended(update.id, isLost ? .failure(.notAddressable) : .success(()))
                take(&queues)
            }
        }

        /// Ends what is in flight, except for updates without a result, and takes nothing of what follows.
        mutating func end(
            _ queues: inout TransmitQueues,
            _ result: (BackendUpdate) -> Result<Void, PeripheralError>?
        ) {
            underWay.removeAll { update in
                guard let result = result(update) else { return false }
                queues.ended(update.id, result)
                return true
            }
        }

        var values: [[UInt8]] { sent.map(\.value) }

        /// What was sent before, between and after the marks, to all centrals together.
        var parts: [[UInt8]] {
            values.split(separator: [0xFF, 0xFF], omittingEmptySubsequences: false).map { Array($0.joined()) }
        }

        func received(by recipients: BackendUpdate.Recipients) -> [[UInt8]] {
            sent.filter { $0.recipients == recipients }.map(\.value)
        }

        func documents(of recipients: BackendUpdate.Recipients) -> [[UInt8]] {
            received(by: recipients).split { $0 == [0xFF, 0xFF] }.map { $0.flatMap(\.self) }
        }
    }

    private var whole: [UInt8] { Array(0..<100) }

    @Test func eachGetsAllAtItsOwnSpeed() {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        let first = queues.takeOutcome(at: .zero).updates
        #expect(first.count == 8)
        // Nothing of what is for `a` leaves.
        var updates = first.filter { $0.recipients == .central(b) }
        var received: [UInt8] = []
        while let update = updates.popFirst() {
            received += update.value
            queues.ended(update.id, .success(()))
            updates += queues.takeOutcome(at: .zero).updates
        }
        #expect(received == whole + [0xFF, 0xFF])
        for update in first where update.recipients == .central(a) { queues.ended(update.id, .success(())) }
        record.drain(&queues)
        #expect(record.answers == [1: nil])
    }

    @Test func progressIsWhatHasLeft() {
        var queues = queues([a], window: 1)
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues)
        #expect(record.progress.map(\.sent) == Array(stride(from: 0, through: 100, by: 10)))
        #expect(record.progress.allSatisfy { $0.central == a && $0.total == 100 })
        #expect(record.answers == [1: nil])
    }

    @Test func documentsAndValuesKeepTheirOrder() {
        var queues = queues([a])
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        #expect(accepts([7], of: Self.bulk, to: .central(a), &queues))
        queues.begin(2, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues)
        #expect(record.documents(of: .central(a)) == [whole, [7] + whole])
        #expect(record.answers == [1: nil, 2: nil])
    }

    @Test func aDocumentLeavesTurnsToOthers() {
        var queues = queues([a], window: 2)
        queues.subscribed(a, to: Self.other, isAddressable: true)
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var updates = queues.takeOutcome(at: .zero).updates
        #expect(accepts([7], of: Self.other, to: .subscribers, &queues))
        for _ in 0..<2 { queues.ended(updates.removeFirst().id, .success(())) }
        #expect(queues.takeOutcome(at: .zero).updates.map(\.characteristic) == [Self.bulk, Self.other])
    }

    @Test func whoSubscribesAnewGetsAllAnew() {
        var queues = queues([a])
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues, at: 3)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        record.sent = []
        record.drain(&queues)
        #expect(record.documents(of: .central(a)) == [whole])
        #expect(record.answers == [1: nil])
        #expect(record.progress.last?.sent == 100)
    }

    @Test func whoComesMeanwhileGetsAll() {
        var queues = queues([a])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues, at: 3)
        queues.subscribed(b, to: Self.bulk, isAddressable: true)
        record.drain(&queues)
        #expect(record.documents(of: .central(b)) == [whole])
        #expect(record.answers == [1: nil])
    }

    /// Those that the stack reaches only together: one that comes meanwhile gets the rest, and then all get
    /// everything.
    @Test func whoComesToOthersGetsAllWithThem() {
        var queues = TransmitQueues(policies: [:])
        queues.subscribed(a, to: Self.bulk, isAddressable: false)
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues, at: 3)
        queues.subscribed(b, to: Self.bulk, isAddressable: false)
        record.drain(&queues)
        #expect(record.documents(of: .subscribers) == [whole, whole])
        #expect(record.answers == [1: nil])
    }

    @Test func whoComesToOthersBeforeTheBeginningGetsAllOnce() {
        var queues = TransmitQueues(policies: [:])
        queues.subscribed(a, to: Self.bulk, isAddressable: false)
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        queues.subscribed(b, to: Self.bulk, isAddressable: false)
        var record = Record()
        record.drain(&queues)
        #expect(record.documents(of: .subscribers) == [whole])
    }

    /// A bonded central that comes back cannot be reached alone.
    @Test func whoCannotBeReachedAloneGetsAllAfterTheOthers() {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues, at: 3)
        queues.subscribed(c, to: Self.bulk, isAddressable: false)
        record.drain(&queues)
        #expect(record.documents(of: .central(a)) == [whole])
        #expect(record.documents(of: .subscribers) == [whole])
        #expect(record.answers == [1: nil])
    }

    /// BlueZ from 5.76 on may lose the way to a central when another leaves.
    @Test func whoCanNoLongerBeReachedAloneGetsAllAfterTheOthers() {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues, at: 4)
        queues.changed(a, of: Self.bulk, isAddressable: false)
        record.drain(&queues, failing: a)
        #expect(record.documents(of: .central(b)) == [whole])
        // The part that it has is ended by a mark of its own.
        #expect(record.received(by: .subscribers).first == marker)
        #expect(record.documents(of: .subscribers) == [whole])
        #expect(record.answers == [1: nil])
    }

    @Test func aStandingOfferIsForAllWhoCome() {
        var queues = queues([])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: true)
        var record = Record()
        for _ in 0..<2 {
            queues.subscribed(a, to: Self.bulk, isAddressable: true)
            record.drain(&queues)
            queues.unsubscribed(a, from: Self.bulk)
        }
        queues.subscribed(b, to: Self.bulk, isAddressable: true)
        record.drain(&queues)
        #expect(record.documents(of: .central(a)) == [whole, whole])
        #expect(record.documents(of: .central(b)) == [whole])
        #expect(record.answers == [:])
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        record.drain(&queues)
        #expect(record.documents(of: .central(a)).count == 2)
    }

    @Test func withoutSubscribersItIsDoneAtOnce() {
        var queues = queues([])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        queues.begin(2, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues)
        #expect(record.answers == [1: nil, 2: .notSubscribed])
    }

    @Test(arguments: [true, false])
    func whoLeavesFreesItsQueueAndDisturbsNobody(unsubscribes: Bool) {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        queues.begin(2, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues, at: 3)
        if unsubscribes { queues.unsubscribed(a, from: Self.bulk) } else { queues.disconnected(a) }
        #expect(QueueReport.ofEachQueue(in: queues).map(\.central) == [b])
        record.drain(&queues)
        #expect(record.documents(of: .central(b)) == [whole])
        #expect(record.answers == [1: nil, 2: unsubscribes ? .notSubscribed : .disconnected])
    }

    @Test func anErrorEndsWhatIsForOneAndIsToldOfWhatIsForAll() {
        for recipients in [UpdateRecipients.central(a), .subscribers] {
            var queues = queues([a, b])
            queues.begin(1, document, of: Self.bulk, to: recipients, isStanding: false)
            for update in queues.takeOutcome(at: .zero).updates {
                let isLost = update.recipients == .central(a)
                queues.ended(update.id, isLost ? .failure(insecure) : .success(()))
            }
            var record = Record()
            record.drain(&queues)
            #expect(record.answers == [1: .insufficientSecurity])
            #expect(record.received(by: .central(a)).isEmpty)
        }
    }

    @Test func whatIsCancelledIsNotSentAnyMore() {
        var queues = queues([a])
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        #expect(queues.takeOutcome(at: .zero).updates.count == 4)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        #expect(accepts([7], of: Self.bulk, to: .central(a), &queues))
        queues.suspended()
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        #expect(queues.takeOutcome(at: .zero).updates.isEmpty)
    }

    @Test func aChunkIsNoLongerThanTheCentralCanGet() {
        var queues = queues([a])
        let document = Document(bytes: whole, chunkSize: 512, endMarker: nil)
        queues.connected(Central(address: .numbered(1), mtu: 63, id: a))
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues)
        #expect(record.received(by: .central(a)).map(\.count) == [60, 40])
    }

    // MARK: The mark after a part of a document

    /// Otherwise, it would take the next document for the rest of this one.
    ///
    /// The next may wait already when this one is cancelled.
    @Test(arguments: [false, true])
    func whoHasAPartOfWhatIsCancelledIsToldByTheMark(isNextWaiting: Bool) {
        var queues = queues([a])
        let recipients: UpdateRecipients = isNextWaiting ? .central(a) : .subscribers
        queues.begin(1, document, of: Self.bulk, to: recipients, isStanding: !isNextWaiting)
        var record = Record()
        record.drain(&queues, at: 3)
        if isNextWaiting { queues.begin(2, next, of: Self.bulk, to: recipients, isStanding: false) }
        let wasKnown = queues.cancel(1)
        if !isNextWaiting { queues.begin(2, next, of: Self.bulk, to: recipients, isStanding: false) }
        record.drain(&queues)
        let documents = record.documents(of: .central(a))
        #expect(wasKnown && documents.count == 2 && documents.last == next.bytes)
        #expect(documents.first?.count ?? 0 < whole.count)
    }

    /// A value that takes the place of the newest takes the mark away.
    @Test func theMarkOfWhatIsCancelledIsNotReplaced() {
        var queues = queues([a], policies: [Self.bulk: .latest])
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues, at: 1)
        let wasKnown = queues.cancel(1)
        record.take(&queues)
        #expect(wasKnown && accepts([7], of: Self.bulk, to: .central(a), &queues))
        record.drain(&queues)
        #expect(record.values.contains(marker))
    }

    /// Who falls back to sending to all would have them take that for the rest.
    @Test(arguments: [false, true])
    func whoHasAPartOfWhatHasFailedIsToldByTheMarkOfTheNext(isNextWaiting: Bool) {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues, at: 2)
        if isNextWaiting { queues.begin(2, next, of: Self.bulk, to: .central(a), isStanding: false) }
        record.end(&queues) { _ in .failure(isNextWaiting ? insecure : .notAddressable) }
        if !isNextWaiting {
            queues.changed(a, of: Self.bulk, isAddressable: false)
            queues.begin(2, next, of: Self.bulk, to: .subscribers, isStanding: false)
        }
        record.drain(&queues)
        #expect(record.parts.count == 3 && record.parts.dropFirst() == [next.bytes, []])
    }

    /// Also when that one was cancelled, and its mark does not reach its central any more.
    @Test func whoMissesTheMarkOfWhatIsCancelledGetsItBeforeTheNext() {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues, at: 2)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        while !record.underWay.isEmpty {
            record.end(&queues) { _ in .failure(.notAddressable) }
            record.take(&queues)
        }
        queues.changed(a, of: Self.bulk, isAddressable: false)
        queues.begin(2, next, of: Self.bulk, to: .subscribers, isStanding: false)
        record.sent = []
        record.drain(&queues)
        #expect(record.values.first == marker)
    }

    /// Also when all of that one was on its way already, with its mark.
    @Test(arguments: [false, true])
    func whoMissesTheMarkThatWasOnItsWayGetsItBeforeTheNext(hasMark: Bool) {
        var queues = queues([a], window: 16)
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues, at: 2)
        #expect(record.underWay.last?.value == marker)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        record.end(&queues) { hasMark && $0.value == marker ? .success(()) : .failure(.notAddressable) }
        queues.begin(2, next, of: Self.bulk, to: .central(a), isStanding: false)
        record.sent = []
        record.drain(&queues)
        #expect((record.values.first == marker) != hasMark)
    }

    /// The mark that ends its part does not come either: the next document begins with that, whichever
    /// recipient it is for.
    @Test(arguments: [false, true])
    func aPartStaysToBeEndedWhenTheMarkFails(isCancelled: Bool) {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues, at: 2)
        queues.changed(a, of: Self.bulk, isAddressable: false)
        record.end(&queues) { $0.recipients == .central(a) ? .failure(.notAddressable) : nil }
        record.end(&queues) { _ in .failure(.disconnected) }
        if isCancelled {
            let wasKnown = queues.cancel(1)
            #expect(wasKnown)
        }
        record.take(&queues)
        let mark = record.underWay.first
        #expect(mark?.value == marker && mark?.recipients == .subscribers)
        record.end(&queues) { _ in .failure(insecure) }
        queues.begin(2, next, of: Self.bulk, to: .subscribers, isStanding: false)
        record.sent = []
        record.drain(&queues)
        #expect(record.parts == [[], next.bytes, []])
    }

    @Test func whoComesMeanwhileDoesNotTakeBackTheMark() {
        var queues = queues([a, b])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        var record = Record()
        record.drain(&queues, at: 4)
        queues.subscribed(c, to: Self.bulk, isAddressable: false)
        record.drain(&queues, at: 1, failing: a)
        queues.subscribed(Central.ID(address: .numbered(4)), to: Self.bulk, isAddressable: false)
        record.drain(&queues, failing: a)
        // What `a` has is ended before all get everything, once.
        #expect(record.received(by: .subscribers).first == marker)
        #expect(record.documents(of: .subscribers) == [whole])
        #expect(record.answers == [1: nil])
    }
}

extension Result<Void, PeripheralError> {
    fileprivate var code: PeripheralError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
