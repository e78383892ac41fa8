import PeripheralCore
import PeripheralTesting
import Synchronization
import Testing

@testable import PeripheralKit

/// What breaks documents, or keeps waiters, although it is promised otherwise.
@Suite(.timeLimit(.minutes(1)))
struct TransferGapsTests {
    private static let bulk: AttributeHandle = 3
    private let a = Central.ID(address: .numbered(1))
    private let marker: [UInt8] = [0xFF, 0xFF]
    private let value = Characteristic<[UInt8]>(0x2A3E, .indicate)

    private func document(_ byte: UInt8) -> Document {
        Document(bytes: Array(repeating: byte, count: 100), chunkSize: 10, endMarker: marker)
    }

    private func drain(_ queues: inout TransmitQueues, _ underWay: inout [BackendUpdate], at most: Int = .max)
        -> [[UInt8]]
    {
        var received: [[UInt8]] = []
        var count = 0
        repeat {
            let updates = queues.takeOutcome(at: .zero).updates
            received += updates.map(\.value)
            underWay += updates
            guard !underWay.isEmpty, count < most else { return received }
            count += 1
            queues.ended(underWay.removeFirst().id, .success(()))
        } while true
    }

    /// The mark has to come before the next document, not after it.
    @Test func theMarkOfWhatIsCancelledComesBeforeTheNextDocument() {
        var queues = TransmitQueues(policies: [:], window: 4)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        var underWay: [BackendUpdate] = []
        queues.begin(1, document(1), of: Self.bulk, to: .central(a), isStanding: false)
        var received = drain(&queues, &underWay, at: 1)
        queues.begin(2, document(2), of: Self.bulk, to: .central(a), isStanding: false)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        received += drain(&queues, &underWay)
        let documents = received.split(separator: marker, omittingEmptySubsequences: false)
            .map { Array($0.joined()) }
        #expect(documents.contains(document(2).bytes), "\(documents)")
    }

    /// A value that takes the place of the newest takes the mark away.
    @Test func theMarkOfWhatIsCancelledIsNotReplaced() {
        var queues = TransmitQueues(policies: [Self.bulk: .latest], window: 4)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        var underWay: [BackendUpdate] = []
        queues.begin(1, document(1), of: Self.bulk, to: .central(a), isStanding: false)
        var received = drain(&queues, &underWay, at: 1)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        received += drain(&queues, &underWay, at: 0)
        #expect(accepts([7], of: Self.bulk, to: .central(a), &queues))
        received += drain(&queues, &underWay)
        #expect(received.contains(marker), "\(received)")
    }

    /// Who falls back to sending to all would have them take that for the rest.
    @Test(arguments: [false, true])
    func whoHasAPartOfWhatHasFailedIsToldByTheMarkOfTheNext(isWaiting: Bool) {
        var queues = TransmitQueues(policies: [:], window: 4)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        queues.subscribed(Central.ID(address: .numbered(2)), to: Self.bulk, isAddressable: true)
        var underWay: [BackendUpdate] = []
        queues.begin(1, document(1), of: Self.bulk, to: .central(a), isStanding: false)
        var received = drain(&queues, &underWay, at: 2)
        if isWaiting { queues.begin(2, document(2), of: Self.bulk, to: .central(a), isStanding: false) }
        let error = PeripheralError(code: isWaiting ? .insufficientSecurity : .notAddressable, message: "")
        while let update = underWay.popFirst() { queues.ended(update.id, .failure(error)) }
        if !isWaiting {
            queues.changed(a, of: Self.bulk, isAddressable: false)
            queues.begin(2, document(2), of: Self.bulk, to: .subscribers, isStanding: false)
        }
        received += drain(&queues, &underWay)
        #expect(received.last == marker)
        let documents = received.split(separator: marker, omittingEmptySubsequences: false)
            .map { Array($0.joined()) }
        #expect(documents.dropLast().last == document(2).bytes, "\(documents)")
        #expect(documents.count == 3)
    }

    /// Also when that one was cancelled, and its mark does not reach its central any more.
    @Test func whoMissesTheMarkOfWhatIsCancelledGetsItBeforeTheNext() {
        var queues = TransmitQueues(policies: [:], window: 4)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        queues.subscribed(Central.ID(address: .numbered(2)), to: Self.bulk, isAddressable: true)
        var underWay: [BackendUpdate] = []
        queues.begin(1, document(1), of: Self.bulk, to: .central(a), isStanding: false)
        _ = drain(&queues, &underWay, at: 2)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        let error = PeripheralError(code: .notAddressable, message: "")
        while let update = underWay.popFirst() {
            queues.ended(update.id, .failure(error))
            underWay += queues.takeOutcome(at: .zero).updates
        }
        queues.changed(a, of: Self.bulk, isAddressable: false)
        queues.begin(2, document(2), of: Self.bulk, to: .subscribers, isStanding: false)
        #expect(drain(&queues, &underWay).first == marker)
    }

    /// Also when all of that one was on its way already, with its mark.
    @Test(arguments: [false, true])
    func whoMissesTheMarkThatWasOnItsWayGetsItBeforeTheNext(hasMark: Bool) {
        var queues = TransmitQueues(policies: [:], window: 16)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        var underWay: [BackendUpdate] = []
        queues.begin(1, document(1), of: Self.bulk, to: .central(a), isStanding: false)
        _ = drain(&queues, &underWay, at: 2)
        #expect(underWay.last?.value == marker)
        let wasKnown = queues.cancel(1)
        #expect(wasKnown)
        let error = PeripheralError(code: .notAddressable, message: "")
        while let update = underWay.popFirst() {
            queues.ended(update.id, hasMark && underWay.isEmpty ? .success(()) : .failure(error))
        }
        queues.begin(2, document(2), of: Self.bulk, to: .central(a), isStanding: false)
        #expect((drain(&queues, &underWay).first == marker) != hasMark)
    }

    /// The mark that ends its part does not come either: the next document begins with that, whichever
    /// recipient it is for.
    @Test(arguments: [false, true])
    func aPartStaysToBeEndedWhenTheMarkFails(isCancelled: Bool) {
        var queues = TransmitQueues(policies: [:], window: 4)
        for number in 1...2 as ClosedRange<UInt8> {
            queues.subscribed(Central.ID(address: .numbered(number)), to: Self.bulk, isAddressable: true)
        }
        var underWay: [BackendUpdate] = []
        queues.begin(1, document(1), of: Self.bulk, to: .subscribers, isStanding: false)
        _ = drain(&queues, &underWay, at: 2)
        queues.changed(a, of: Self.bulk, isAddressable: false)
        func end(_ code: PeripheralError.Code, _ isMeant: (BackendUpdate) -> Bool) {
            while let index = underWay.firstIndex(where: isMeant) {
                queues.ended(
                    underWay.remove(at: index).id,
                    .failure(PeripheralError(code: code, message: ""))
                )
            }
        }
        end(.notAddressable) { $0.recipients == .central(a) }
        end(.disconnected) { _ in true }
        if isCancelled {
            let wasKnown = queues.cancel(1)
            #expect(wasKnown)
        }
        underWay += queues.takeOutcome(at: .zero).updates
        #expect(underWay.first?.value == marker && underWay.first?.recipients == .subscribers)
        end(.insufficientSecurity) { _ in true }
        queues.begin(2, document(2), of: Self.bulk, to: .subscribers, isStanding: false)
        let documents = drain(&queues, &underWay).split(
            separator: marker,
            omittingEmptySubsequences: false
        )
        #expect(documents.map { Array($0.joined()) } == [[], document(2).bytes, []])
    }

    /// Another task sends small values, and takes what room there is.
    @Test func whoWaitsForRoomForAnyValueIsNotStarved() {
        var queues = TransmitQueues(policies: [Self.bulk: .reject(beyond: 100, bytes: 1000)], window: 1)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        let small = [UInt8](repeating: 0, count: 20)
        while accepts(small, of: Self.bulk, to: .central(a), &queues) {}
        queues.wait(1, for: Self.bulk, to: .central(a), with: nil)
        var underWay = queues.takeOutcome(at: .zero).updates
        var isReady = false
        var accepted = 0
        for _ in 0..<10_000 where !isReady {
            queues.ended(underWay.removeFirst().id, .success(()))
            let outcome = queues.takeOutcome(at: .zero)
            underWay += outcome.updates
            isReady = !outcome.answers.isEmpty
            if !isReady, accepts(small, of: Self.bulk, to: .central(a), &queues) { accepted += 1 }
            underWay += queues.takeOutcome(at: .zero).updates
        }
        #expect(isReady, "\(accepted) values of another were accepted meanwhile")
    }

    private var peripheral: Peripheral {
        Peripheral("Transfers") { GATTService(0x180F) { value } }
    }

    /// Two documents by indications to the same central.
    @Test func confirmedDocumentsDoNotMix() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: value)
            let known = try #require(session.centrals.first)
            let documents = [[UInt8](repeating: 1, count: 100), [UInt8](repeating: 2, count: 100)]
            async let received = { () async throws -> [[UInt8]] in
                var (all, one): ([[UInt8]], [UInt8]) = ([], [])
                while all.count < 2 {
                    let chunk = try await central.nextUpdate(of: value)
                    if chunk == Array("EOM".utf8) {
                        all.append(one)
                        one = []
                    } else {
                        one += chunk
                    }
                }
                return all
            }()
            try await withThrowingTaskGroup { group in
                for document in documents {
                    group.addTask {
                        try await session.send(document, over: value, to: known, by: .indication)
                    }
                }
                try await group.waitForAll()
            }
            let all = try await received
            #expect(Set(all) == Set(documents), "\(all)")
        }
    }

    /// The documentation of `send` promises this for a call that is cancelled.
    @Test func aConfirmedDocumentThatIsCancelledIsEndedByTheMark() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: value)
            let known = try #require(session.centrals.first)
            central.confirmsIndications = false
            let sending = Task {
                try await session.send(
                    Array(repeating: 1, count: 100),
                    over: value,
                    to: known,
                    by: .indication
                )
            }
            #expect(try await central.nextUpdate(of: value) == Array(repeating: 1, count: 20))
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
            central.confirmsIndications = true
            try await session.send([2], over: value, to: known, by: .indication)
            #expect(try await central.nextUpdate(of: value) == Array("EOM".utf8))
        }
    }

    /// A central subscribes again while several chunks are being handed on: those after that are of the
    /// earlier subscription.
    @Test(arguments: [true, false])
    func whatIsBeingHandedOnIsForNoLaterSubscription(isAddressable: Bool) async throws {
        let sender = UpdateSender(policies: [:], clock: ContinuousClock())
        let central = Central(address: .numbered(1))
        let subscription = BackendSubscription(
            characteristic: Self.bulk,
            central: central,
            isAddressable: isAddressable
        )
        let link = TurningLink(sender, subscription)
        sender.begin(PublishedPeripheral(link: link, window: 4))
        sender.subscribed(subscription)
        let document = Document(bytes: Array(0..<100), chunkSize: 10, endMarker: [0xFF, 0xFF])
        try await sender.transfer(document, over: Self.bulk, to: .subscribers, isStanding: false) { _ in }
        let received = link.received.withLock(\.self)
        #expect(received.dropLast().flatMap(\.self) == Array(0..<100), "\(received)")
    }
}

/// The central subscribes again with the second chunk; what comes then comes to the new subscription.
private final class TurningLink: BackendLink {
    let received = Mutex<[[UInt8]]>([])
    private let count = Mutex(0)
    private let sender: UpdateSender
    private let subscription: Mutex<BackendSubscription>

    init(_ sender: UpdateSender, _ subscription: BackendSubscription) {
        self.sender = sender
        self.subscription = Mutex(subscription)
    }

    func submit(_ update: BackendUpdate) {
        guard subscription.withLock(\.number) <= update.lastSubscription else {
            return sender.ended([(update.id, .failed(.notSubscribed))])
        }
        let number = count.withLock { count in
            count += 1
            return count
        }
        received.withLock { $0.append(update.value) }
        if number == 2 {
            received.withLock { $0 = [] }
            sender.subscribed(
                subscription.withLock { subscription in
                    subscription.number += 1
                    return subscription
                }
            )
        }
        sender.ended([(update.id, .completed)])
    }

    func giveUp(_ update: BackendUpdate.ID) {}
    func disconnect(_ central: Central.ID) async throws {}
    func bondedCentrals() async throws -> [Central] { [] }
    func forget(_ central: Central.ID) async throws {}
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {}
    func stop() {}
}
