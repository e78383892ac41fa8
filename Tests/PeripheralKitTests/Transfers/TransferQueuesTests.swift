import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

/// Documents in the queues: who gets which parts of them, and when they are done with.
@Suite(.timeLimit(.minutes(1)))
struct TransferQueuesTests {
    private static let bulk: AttributeHandle = 3
    private static let other: AttributeHandle = 6
    private let a = Central.ID(address: .numbered(1))
    private let b = Central.ID(address: .numbered(2))
    private let c = Central.ID(address: .numbered(3))
    private let document = Document(bytes: Array(0..<100), chunkSize: 10, endMarker: [0xFF, 0xFF])

    private func queues(_ subscribers: [Central.ID], window: Int = 4) -> TransmitQueues {
        var queues = TransmitQueues(policies: [:], window: window)
        for central in subscribers { queues.subscribed(central, to: Self.bulk, isAddressable: true) }
        return queues
    }

    /// What has been sent, its recipients, and the outcome.
    private struct Record {
        var received: [BackendUpdate.Recipients: [[UInt8]]] = [:]
        var answers: [TransmitQueues.Ticket: PeripheralError.Code?] = [:]
        var progress: [TransferProgress] = []
        private var underWay: [BackendUpdate] = []

        /// Completes all updates, or at most `most` updates.
        ///
        /// An update for `lost` alone fails, because this central cannot be reached alone.
        mutating func drain(
            _ queues: inout TransmitQueues,
            at most: Int = .max,
            failing lost: Central.ID? = nil
        ) {
            var count = 0
            repeat {
                let outcome = queues.takeOutcome(at: .zero)
                for update in outcome.updates {
                    received[update.recipients, default: []].append(update.value)
                }
                for (ticket, result) in outcome.answers { answers[ticket] = result.code }
                progress += outcome.progress.map(\.1)
                underWay += outcome.updates
                guard !underWay.isEmpty, count < most else { return }
                count += 1
                let update = underWay.removeFirst()
                let isLost = lost.map { update.recipients == .central($0) } ?? false
                queues.ended(update.id, isLost ? .failure(.notAddressable) : .success(()))
            } while true
        }

        func documents(of recipients: BackendUpdate.Recipients) -> [[UInt8]] {
            (received[recipients] ?? []).split { $0 == [0xFF, 0xFF] }.map { $0.flatMap(\.self) }
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
        record.received = [:]
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
        #expect(record.received[.subscribers]?.first == [0xFF, 0xFF])
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
            let insecure = PeripheralError(code: .insufficientSecurity, message: "Not encrypted.")
            for update in queues.takeOutcome(at: .zero).updates {
                let isLost = update.recipients == .central(a)
                queues.ended(update.id, isLost ? .failure(insecure) : .success(()))
            }
            var record = Record()
            record.drain(&queues)
            #expect(record.answers == [1: .insufficientSecurity])
            #expect(record.received[.central(a)] == nil)
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

    /// Otherwise, it would take the next document for the rest of this one.
    @Test func whoHasAPartOfWhatIsCancelledIsToldByTheMark() {
        var queues = queues([a])
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: true)
        var record = Record()
        record.drain(&queues, at: 3)
        let wasKnown = queues.cancel(1)
        queues.begin(2, document, of: Self.bulk, to: .subscribers, isStanding: false)
        record.drain(&queues)
        let documents = record.documents(of: .central(a))
        #expect(wasKnown && documents.count == 2 && documents.last == whole)
        #expect(documents.first?.count ?? 0 < whole.count)
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
        #expect(record.received[.subscribers]?.first == [0xFF, 0xFF])
        #expect(record.documents(of: .subscribers) == [whole])
        #expect(record.answers == [1: nil])
    }

    @Test func aChunkIsNoLongerThanTheCentralCanGet() {
        var queues = queues([a])
        let document = Document(bytes: whole, chunkSize: 512, endMarker: nil)
        queues.connected(Central(address: .numbered(1), mtu: 63, id: a))
        queues.begin(1, document, of: Self.bulk, to: .central(a), isStanding: false)
        var record = Record()
        record.drain(&queues)
        #expect(record.received[.central(a)]?.map(\.count) == [60, 40])
    }

    /// Each central that is subscribed at the end has received the whole document.
    ///
    /// No call waits without a result, whatever happens.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func whoStaysGetsAll(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queues = TransmitQueues(policies: [:], window: 3)
        var underWay: [BackendUpdate] = []
        var since: [Central.ID: [[UInt8]]] = [:]
        var answered: Set<TransmitQueues.Ticket> = []
        let centrals = [a, b, c]

        func take() {
            let outcome = queues.takeOutcome(at: .zero)
            answered.formUnion(outcome.answers.map(\.0))
            for update in outcome.updates {
                for central in since.keys {
                    if case .central(let other) = update.recipients, other != central { continue }
                    since[central]?.append(update.value)
                }
            }
            underWay += outcome.updates
        }

        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: true)
        for _ in 0..<100 {
            let central = centrals.randomElement(using: &random) ?? a
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let isAddressable = Int.random(in: 0..<3, using: &random) > 0
                since[central] = []
                queues.subscribed(central, to: Self.bulk, isAddressable: isAddressable)
            case 1:
                since[central] = nil
                queues.unsubscribed(central, from: Self.bulk)
            case 2:
                since[central] = nil
                queues.disconnected(central)
            default:
                guard let index = underWay.indices.randomElement(using: &random) else { break }
                queues.ended(underWay.remove(at: index).id, .success(()))
            }
            take()
        }
        queues.begin(2, document, of: Self.bulk, to: .subscribers, isStanding: false)
        take()
        while !underWay.isEmpty {
            queues.ended(underWay.removeFirst().id, .success(()))
            take()
        }
        #expect(answered == [2])
        for (central, values) in since {
            let documents = values.split { $0 == [0xFF, 0xFF] }.map { Array($0.joined()) }
            #expect(documents.last == whole, "\(central)")
        }
    }
}

extension Result<Void, PeripheralError> {
    fileprivate var code: PeripheralError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
