import PeripheralCore
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct TransmitQueuesTests {
    private static let bulk: AttributeHandle = 3
    private static let newest: AttributeHandle = 6
    private static let other: AttributeHandle = 9
    private let a = Central.ID(address: .numbered(1))
    private let b = Central.ID(address: .numbered(2))

    private func queues(subscribed: [Central.ID], isAddressable: Bool = true) -> TransmitQueues {
        var queues = TransmitQueues(policies: [Self.newest: .latest])
        for characteristic in [Self.bulk, Self.newest, Self.other] {
            for central in subscribed {
                queues.subscribed(central, to: characteristic, isAddressable: isAddressable)
            }
        }
        return queues
    }

    @Test func whatIsAcceptedAndHasNotLeftIsBounded() {
        var queues = queues(subscribed: [a])
        var (accepted, sent): (UInt8, [BackendUpdate]) = (0, [])
        while accepts([accepted], of: Self.bulk, to: .central(a), &queues) {
            accepted += 1
            sent += queues.takeOutcome(at: .zero).updates
        }
        // 16 that have been handed on, and 16 that wait.
        #expect(accepted == 32)
        #expect(sent.map(\.value) == (0..<16).map { [$0] })
        for (update, room) in zip(sent, 0..<16) {
            queues.ended(update.id, .success(()))
            #expect(queues.takeOutcome(at: .zero).updates.map(\.value) == [[UInt8(16 + room)]])
            #expect(accepts([0], of: Self.bulk, to: .central(a), &queues))
            #expect(!accepts([0], of: Self.bulk, to: .central(a), &queues))
        }
    }

    @Test func theStackChangesTheWindowOfOneCentral() {
        var queues = queues(subscribed: [a, b])
        queues.setWindow(2, of: a)
        for number in 0..<UInt8(8) {
            #expect(accepts([number], of: Self.bulk, to: .central(a), &queues))
            #expect(accepts([number], of: Self.bulk, to: .central(b), &queues))
        }
        let updates = queues.takeOutcome(at: .zero).updates
        #expect(updates.count { $0.recipients == .central(a) } == 2)
        #expect(updates.count { $0.recipients == .central(b) } == 8)
        // What waits is sent when the window grows, not only when an update ends.
        queues.setWindow(5, of: a)
        #expect(queues.takeOutcome(at: .zero).updates.map(\.value) == [[2], [3], [4]])
        // A smaller window holds back the next updates.
        queues.setWindow(1, of: a)
        for update in updates where update.recipients == .central(a) { queues.ended(update.id, .success(())) }
        #expect(queues.takeOutcome(at: .zero).updates.isEmpty)
        // The window ends with the connection.
        queues.disconnected(a)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        for number in 0..<UInt8(8) { #expect(accepts([number], of: Self.bulk, to: .central(a), &queues)) }
        #expect(queues.takeOutcome(at: .zero).updates.count { $0.recipients == .central(a) } == 8)
    }

    @Test func theStackCannotRaiseAWindowAboveTheUsualOne() {
        var queues = queues(subscribed: [a])
        queues.setWindow(4)
        queues.setWindow(100, of: a)
        for number in 0..<UInt8(8) { #expect(accepts([number], of: Self.bulk, to: .central(a), &queues)) }
        #expect(queues.takeOutcome(at: .zero).updates.count == 4)
    }

    private func centrals(_ count: UInt8) -> [Central.ID] {
        (1...count).map { Central.ID(address: .numbered($0)) }
    }

    @Test func allCentralsTogetherHaveTwoWindowsInFlight() {
        let centrals = centrals(5)
        var queues = queues(subscribed: centrals)
        queues.setWindow(4)
        for number in 0..<UInt8(4) {
            for central in centrals {
                #expect(accepts([number], of: Self.bulk, to: .central(central), &queues))
            }
        }
        var inFlight = queues.takeOutcome(at: .zero).updates
        var values: [[UInt8]] = []
        while !inFlight.isEmpty {
            #expect(inFlight.count <= 8)
            let update = inFlight.removeFirst()
            values.append(update.value)
            queues.ended(update.id, .success(()))
            inFlight += queues.takeOutcome(at: .zero).updates
        }
        // Each central has its turn, although there is less room than they could use.
        #expect(values == (0..<UInt8(4)).flatMap { number in centrals.map { _ in [number] } })
    }

    /// Two links that carry nothing have all the room.
    @Test func stalledLinksDoNotStopTheOthers() {
        let centrals = centrals(3)
        var queues = queues(subscribed: centrals)
        queues.setWindow(4)
        for central in centrals {
            for number in 0..<UInt8(8) {
                #expect(accepts([number], of: Self.bulk, to: .central(central), &queues))
            }
            _ = queues.takeOutcome(at: .zero)
        }
        queues.disconnected(centrals[2])
        queues.subscribed(centrals[2], to: Self.bulk, isAddressable: true)
        for number in 0..<UInt8(8) {
            #expect(accepts([number], of: Self.bulk, to: .central(centrals[2]), &queues))
            let updates = queues.takeOutcome(at: .zero).updates
            #expect(updates.map(\.value) == [[number]])
            for update in updates { queues.ended(update.id, .success(())) }
        }
    }

    /// A value for all that is missing for one of them may have left for the others.
    @Test(arguments: [2, 5]) func valuesForAllDoNotUseUpTheWindowOfOne(window: Int) {
        var queues = TransmitQueues(policies: [:])
        for central in [a, b] {
            queues.subscribed(central, to: Self.other, isAddressable: true, sharesUpdatesForAll: true)
            queues.subscribed(central, to: Self.bulk, isAddressable: true)
        }
        queues.setWindow(window, of: a)
        queues.setWindow(2, of: b)
        for number in 0..<UInt8(16) { #expect(accepts([number], of: Self.other, to: .subscribers, &queues)) }
        let forAll = queues.takeOutcome(at: .zero).updates
        #expect(forAll.count == window)
        for number in 0..<UInt8(16) { #expect(accepts([number], of: Self.bulk, to: .central(a), &queues)) }
        var updates = queues.takeOutcome(at: .zero).updates
        #expect(updates.count == 2)
        // Without values for all, a central has its window for itself.
        for update in forAll { queues.ended(update.id, .success(())) }
        queues.unsubscribed(a, from: Self.other)
        queues.unsubscribed(b, from: Self.other)
        updates += queues.takeOutcome(at: .zero).updates.filter { $0.recipients == .central(a) }
        #expect(updates.count == window)
    }

    /// One silent subscriber keeps two values of each of many characteristics from ending.
    @Test func manySharedCharacteristicsDoNotStopSingleValues() {
        var queues = TransmitQueues(policies: [:])
        for handle in 20..<UInt16(30) {
            let characteristic = AttributeHandle(rawValue: handle)
            for central in [a, b] {
                queues.subscribed(central, to: characteristic, isAddressable: true, sharesUpdatesForAll: true)
            }
            for number in 0..<UInt8(2) {
                #expect(accepts([number], of: characteristic, to: .subscribers, &queues))
            }
        }
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        #expect(queues.takeOutcome(at: .zero).updates.count == 20)
        #expect(accepts([1], of: Self.bulk, to: .central(a), &queues))
        #expect(queues.takeOutcome(at: .zero).updates.count == 1)
    }

    /// Values for all to many centrals use more places than there are for single values.
    @Test func valuesForAllDoNotStopSingleValues() {
        let centrals = centrals(40)
        var queues = TransmitQueues(policies: [:])
        for central in centrals {
            queues.subscribed(central, to: Self.other, isAddressable: true, sharesUpdatesForAll: true)
        }
        queues.subscribed(centrals[0], to: Self.bulk, isAddressable: true)
        var underWay: [BackendUpdate] = []
        for _ in 0..<3 {
            // There are always as many values for all in flight as there may be.
            while accepts([0], of: Self.other, to: .subscribers, &queues) {
                underWay += queues.takeOutcome(at: .zero).updates
            }
            queues.ended(underWay.removeFirst().id, .success(()))
            underWay += queues.takeOutcome(at: .zero).updates
        }
        #expect(accepts([1], of: Self.bulk, to: .central(centrals[0]), &queues))
        #expect(queues.takeOutcome(at: .zero).updates.map(\.value) == [[1]])
    }

    /// What waits in a queue and what is on its way counts, of all characteristics; what comes later, and
    /// what is for another, does not.
    @Test func clearanceIsForWhatCameBefore() {
        var queues = queues(subscribed: [a, b])
        queues.setWindow(1)
        for characteristic in [Self.bulk, Self.other] {
            #expect(accepts([1], of: characteristic, to: .central(a), &queues))
            #expect(accepts([1], of: characteristic, to: .central(b), &queues))
        }
        queues.waitForBarrier(7, of: a)
        #expect(accepts([2], of: Self.bulk, to: .central(a), &queues))
        var answered = 0
        for _ in 0..<3 {
            let outcome = queues.takeOutcome(at: .zero)
            if !outcome.answers.isEmpty { break }
            // There is one at a time.
            for update in outcome.updates where update.recipients == .central(a) {
                #expect(update.value == [1])
                queues.ended(update.id, .success(()))
                answered += 1
            }
        }
        #expect(answered == 2)
    }

    /// Of all centrals, also behind a document, and what is confirmed.
    @Test func clearanceIsOfAllThatWasAccepted() {
        var queues = queues(subscribed: [a, b])
        queues.setWindow(1)
        let document = Document(bytes: Array(0..<40), chunkSize: 20, endMarker: nil)
        queues.begin(1, document, of: Self.bulk, to: .centrals([a]), isStanding: false)
        #expect(accepts([1], of: Self.bulk, to: .central(a), &queues))
        queues.indicate(2, [2], of: Self.other, to: .central(b), at: .zero)
        queues.indicate(3, [3], of: Self.other, to: .central(b), at: .zero)
        queues.waitForBarrier(7, of: nil)
        #expect(accepts([4], of: Self.bulk, to: .central(a), &queues))
        var sent: [BackendUpdate] = []
        var answers: [TransmitQueues.Ticket] = []
        while !answers.contains(7) {
            let outcome = queues.takeOutcome(at: .zero)
            answers += outcome.answers.map(\.0)
            sent += outcome.updates
            guard !answers.contains(7), !sent.isEmpty else { break }
            queues.ended(sent.removeFirst().id, .success(()))
        }
        #expect(answers.contains(7) && Set([2, 3]).isSubset(of: answers))
        // What was offered later is still there.
        #expect(sent.map(\.value) == [[4]])
        #expect(!QueueReport.ofEachCharacteristic(in: queues).contains { $0.counters.queued > 0 })
    }

    /// A barrier for one central also waits for values to all subscribers.
    ///
    /// This holds if the central cannot be reached alone.
    @Test func clearanceIsAlsoOfWhatIsForAll() {
        var queues = queues(subscribed: [a, b], isAddressable: false)
        #expect(accepts([1], of: Self.bulk, to: .subscribers, &queues))
        queues.waitForBarrier(7, of: a)
        let sent = queues.takeOutcome(at: .zero)
        #expect(sent.updates.count == 1 && sent.answers.isEmpty)
        queues.ended(sent.updates[0].id, .success(()))
        let cleared = queues.takeOutcome(at: .zero)
        #expect(cleared.answers.map(\.0) == [7])
        queues.waitForBarrier(8, of: a)
        let atOnce = queues.takeOutcome(at: .zero)
        #expect(atOnce.answers.map(\.0) == [8])
    }

    /// Values and documents for all, also for who subscribes later.
    @Test func whatIsForAllGoesOnceWhereThatIsDemanded() throws {
        var queues = TransmitQueues(policies: [:])
        queues.subscribed(a, to: Self.bulk, isAddressable: true, sharesUpdatesForAll: true)
        let document = Document(bytes: [3], chunkSize: 20, endMarker: nil)
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: true)
        var sent: [BackendUpdate] = []
        func send() {
            while case let updates = queues.takeOutcome(at: .zero).updates, !updates.isEmpty {
                sent += updates
                for update in updates { queues.ended(update.id, .success(())) }
            }
        }
        send()
        queues.subscribed(b, to: Self.bulk, isAddressable: true, sharesUpdatesForAll: true)
        #expect(accepts([1], of: Self.bulk, to: .subscribers, &queues))
        #expect(accepts([2], of: Self.bulk, to: .central(a), &queues))
        send()
        #expect(sent.filter { $0.recipients == .subscribers }.map(\.value) == [[3], [3], [1]])
        #expect(sent.filter { $0.recipients != .subscribers }.map(\.value) == [[2]])
        let index = try #require(queues.queues.characteristicIndex(Self.bulk))
        #expect(!queues.queues.characteristics[index].reachesEach)
    }

    /// At the call, and while values wait or are in flight.
    @Test func whatCannotGoAloneGoesToAll() {
        var queues = queues(subscribed: [a, b])
        func offer(_ value: UInt8) -> Bool {
            let answer = queues.offer([value], of: Self.bulk, to: .central(a), fallback: .allSubscribers)
            if case .accepted = answer { return true }
            return false
        }
        queues.setWindow(2)
        for value: UInt8 in 1...3 { #expect(offer(value)) }
        let alone = queues.takeOutcome(at: .zero).updates
        #expect(alone.map(\.recipients) == [.central(a), .central(a)])
        queues.changed(a, of: Self.bulk, isAddressable: false)
        #expect(offer(4))
        for update in alone { queues.ended(update.id, .failure(.notAddressable)) }
        var sent: [BackendUpdate] = []
        while case let updates = queues.takeOutcome(at: .zero).updates, !updates.isEmpty {
            sent += updates
            for update in updates {
                let isAlone = update.recipients == .central(a)
                queues.ended(update.id, isAlone ? .failure(.notAddressable) : .success(()))
            }
        }
        #expect(sent.filter { $0.recipients == .subscribers }.map(\.value) == [[1], [2], [3], [4]])
        #expect(QueueReport.ofEachCharacteristic(in: queues).map(\.counters.sent) == [4])
        #expect(QueueReport.ofEachCharacteristic(in: queues).map(\.counters.dropped) == [0])
        // Without the fallback, the value fails.
        #expect(!accepts([5], of: Self.bulk, to: .central(a), &queues))
    }

    /// Runs the queues until nothing is in flight.
    private func drain(
        _ queues: inout TransmitQueues,
        _ inFlight: [BackendUpdate],
        failing centrals: [Central.ID]
    ) -> [BackendUpdate] {
        var (inFlight, sent): ([BackendUpdate], [BackendUpdate]) = (inFlight, [])
        while !inFlight.isEmpty {
            let update = inFlight.removeFirst()
            let fails = centrals.contains { update.recipients == .central($0) }
            queues.ended(update.id, fails ? .failure(.notAddressable) : .success(()))
            let updates = queues.takeOutcome(at: .zero).updates
            sent += updates
            inFlight += updates
        }
        return sent
    }

    /// Whether both are in flight, or one still waits.
    @Test(arguments: [2, 1])
    func whatIsForSeveralAndCannotGoAloneGoesToAllOnce(window: Int) {
        var queues = queues(subscribed: [a, b])
        queues.setWindow(window)
        // With a window of one, the value for one of the centrals waits behind another value.
        if window == 1 { #expect(accepts([9], of: Self.other, to: .central(b), &queues)) }
        var sent = queues.takeOutcome(at: .zero).updates
        _ = queues.offer([1], of: Self.bulk, to: .centrals([a, b]), fallback: .allSubscribers)
        #expect(accepts([2], of: Self.bulk, to: .subscribers, &queues))
        sent += queues.takeOutcome(at: .zero).updates
        let later = drain(
            &queues,
            sent.sorted { $0.recipients == .central(a) && $1.recipients != .central(a) },
            failing: [a]
        )
        #expect(later.filter { $0.recipients == .subscribers }.map(\.value) == [[1]])
        #expect(
            !QueueReport.ofEachCharacteristic(in: queues).contains {
                $0.counters.queued > 0 || $0.counters.inFlight > 0
            }
        )
    }

    /// A document that has begun is older than what falls back, whatever its position.
    @Test func whatGoesToAllDoesNotInterruptADocument() {
        var queues = queues(subscribed: [a, b])
        queues.setWindow(1)
        _ = queues.offer([99], of: Self.bulk, to: .central(b), fallback: .allSubscribers)
        let document = Document(bytes: Array(0..<60), chunkSize: 20, endMarker: nil)
        queues.begin(1, document, of: Self.bulk, to: .centrals([a]), isStanding: false)
        var sent = queues.takeOutcome(at: .zero).updates
        #expect(sent.count == 2)
        sent += drain(&queues, sent, failing: [b])
        let received = sent.filter { $0.recipients != .central(b) }.map(\.value)
        #expect(received == [Array(0..<20), Array(20..<40), Array(40..<60), [99]])
    }

    /// A value that takes another route has not left.
    @Test func clearanceIsAlsoOfWhatGoesToAllInstead() {
        var queues = queues(subscribed: [a, b])
        _ = queues.offer([1], of: Self.bulk, to: .central(a), fallback: .allSubscribers)
        let alone = queues.takeOutcome(at: .zero).updates
        queues.waitForBarrier(7, of: nil)
        #expect(queues.takeOutcome(at: .zero).answers.isEmpty)
        for update in alone { queues.ended(update.id, .failure(.notAddressable)) }
        let outcome = queues.takeOutcome(at: .zero)
        #expect(outcome.answers.isEmpty && outcome.updates.count == 1)
        for update in outcome.updates { queues.ended(update.id, .success(())) }
        #expect(queues.takeOutcome(at: .zero).answers.map(\.0) == [7])
    }

    @Test func aCancelledCallSendsNothingToAll() {
        var queues = queues(subscribed: [a, b])
        queues.wait(7, for: Self.bulk, to: .central(a), fallback: .allSubscribers, with: [1])
        let alone = queues.takeOutcome(at: .zero).updates
        let wasWaiting = queues.cancel(7)
        #expect(wasWaiting)
        for update in alone { queues.ended(update.id, .failure(.notAddressable)) }
        #expect(queues.takeOutcome(at: .zero).updates.isEmpty)
    }

    /// The stack may know that there is a subscriber, and not which central it is.
    @Test func anUnknownSubscriberIsNotReachedAlone() {
        for (subscriber, code) in [(nil, PeripheralError.Code.notAddressable), (b, .notSubscribed)] {
            var queues = TransmitQueues(policies: [:])
            queues.subscribed(subscriber, to: Self.bulk, isAddressable: true)
            guard case .failed(let error) = queues.offer([1], of: Self.bulk, to: .central(a)) else {
                Issue.record("a value for a stranger is not refused")
                continue
            }
            #expect(error.code == code)
        }
    }

    @Test(arguments: [(16, 512), (20, 400), (8192, 1)])
    func whatWaitsIsBoundedByBytesToo(count: Int, size: Int) {
        var queues = TransmitQueues(policies: [Self.bulk: .reject(beyond: .max, bytes: 8192)], window: 0)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        let value = [UInt8](repeating: 0, count: size)
        for _ in 0..<count { #expect(accepts(value, of: Self.bulk, to: .subscribers, &queues)) }
        #expect(!accepts(value, of: Self.bulk, to: .subscribers, &queues))
        #expect(!accepts([0] + value, of: Self.bulk, to: .subscribers, &queues))
    }

    @Test func aValueLargerThanTheBoundFindsRoomInAnEmptyQueue() {
        var queues = TransmitQueues(policies: [Self.bulk: .reject(beyond: 4, bytes: 1)], window: 0)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        #expect(accepts([1, 2, 3], of: Self.bulk, to: .subscribers, &queues))
        #expect(!accepts([0], of: Self.bulk, to: .subscribers, &queues))
    }

    @Test func aValueForSeveralIsForAllOfThemOrForNone() {
        var queues = queues(subscribed: [a, b])
        while accepts([0], of: Self.bulk, to: .central(a), &queues) {}
        let refused = answer([1], to: .centrals([b, a]), &queues)
        #expect(refused == nil)
        // That of the other one has room.
        let counted = QueueReport.ofEachQueue(in: queues).filter { $0.counters.refused > 1 }
        #expect(counted.map(\.central) == [a])
        #expect(QueueReport.ofEachQueue(in: queues).reduce(0) { $0 + $1.counters.refused } == 2)
        let sent = queues.takeOutcome(at: .zero).updates
        #expect(sent.allSatisfy { $0.recipients == .central(a) })
        for update in sent { queues.ended(update.id, .success(())) }
        _ = queues.takeOutcome(at: .zero)
        let accepted = answer([2], to: .centrals([b, a, b]), &queues)
        #expect(accepted == .accepted)
        let updates = queues.takeOutcome(at: .zero).updates
        #expect(updates.filter { $0.value == [2] }.map(\.recipients) == [.central(b), .central(a)])
        let failed = answer([3], to: .centrals([b, Central.ID(address: .numbered(9))]), &queues)
        #expect(failed == .failed(.notSubscribed))
        #expect(queues.takeOutcome(at: .zero).updates.isEmpty)
    }

    /// Another producer takes each place when it gets free.
    ///
    /// The call that waits for room must still be answered.
    @Test func whoWaitsForRoomIsNotStarvedByOneWhoDoesNotWait() {
        var queues = queues(subscribed: [a])
        var underWay = filled(&queues)
        queues.wait(7, for: Self.bulk, to: .subscribers, with: nil)
        var isAnswered = false
        for _ in 0..<1000 where !isAnswered {
            queues.ended(underWay.removeFirst().id, .success(()))
            let outcome = queues.takeOutcome(at: .zero)
            underWay += outcome.updates
            isAnswered = outcome.answers.contains { $0.0 == 7 }
            // The other one: sends when there is room, and drops the value when there is none.
            _ = accepts([1], of: Self.bulk, to: .subscribers, &queues)
            underWay += queues.takeOutcome(at: .zero).updates
        }
        #expect(isAnswered)
    }

    /// Other producers wait with each of their values, several at a time.
    ///
    /// The call that waits for room must still be answered.
    @Test func whoWaitsForRoomIsNotStarvedByThoseWhoWaitWithValues() {
        var queues = queues(subscribed: [a])
        var underWay = filled(&queues)
        queues.wait(7, for: Self.bulk, to: .subscribers, with: nil)
        var next: UInt64 = 100
        for _ in 0..<4 {
            queues.wait(next, for: Self.bulk, to: .subscribers, with: [1])
            next += 1
        }
        var isAnswered = false
        for _ in 0..<1000 where !isAnswered {
            queues.ended(underWay.removeFirst().id, .success(()))
            let outcome = queues.takeOutcome(at: .zero)
            underWay += outcome.updates
            isAnswered = outcome.answers.contains { $0.0 == 7 }
            // Tasks that send one value after the other with `notify`; each begins when a place was taken.
            queues.wait(next, for: Self.bulk, to: .subscribers, with: [1])
            next += 1
        }
        #expect(isAnswered)
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

    /// Fills the queues of a characteristic; returns what is under way.
    private func filled(_ queues: inout TransmitQueues) -> [BackendUpdate] {
        var underWay: [BackendUpdate] = []
        while accepts([0], of: Self.bulk, to: .subscribers, &queues) {
            underWay += queues.takeOutcome(at: .zero).updates
        }
        return underWay
    }

    private enum Told: Equatable {
        case accepted
        case failed(PeripheralError.Code)
    }

    /// What is said to a value for several; `nil` when it finds no room.
    private func answer(
        _ value: [UInt8],
        to recipients: UpdateRecipients,
        _ queues: inout TransmitQueues
    ) -> Told? {
        switch queues.offer(value, of: Self.bulk, to: recipients) {
        case .accepted: .accepted
        case .full: nil
        case .failed(let error): .failed(error.code)
        }
    }

    @Test func theNewestTakesThePlaceOfTheOneThatWaits() {
        var queues = queues(subscribed: [a])
        var sent: [BackendUpdate] = []
        for value in 0..<100 as Range<UInt8> {
            #expect(accepts([value], of: Self.newest, to: .subscribers, &queues))
            sent += queues.takeOutcome(at: .zero).updates
        }
        #expect(sent.map(\.value) == [[0], [1]])
        queues.ended(sent[0].id, .success(()))
        #expect(queues.takeOutcome(at: .zero).updates.map(\.value) == [[99]])
        #expect(QueueReport.ofEachQueue(in: queues).map(\.counters.dropped) == [97])
    }

    @Test func aSlowCentralHoldsUpOthersOnlyWhenItsQueueIsFull() {
        var queues = queues(subscribed: [a, b])
        var received: [[UInt8]] = []
        for value in 0..<32 as Range<UInt8> {
            #expect(accepts([value], of: Self.bulk, to: .subscribers, &queues))
            // What is for `b` leaves at once.
            var updates = queues.takeOutcome(at: .zero).updates
            while let update = updates.first(where: { $0.recipients == .central(b) }) {
                received.append(update.value)
                queues.ended(update.id, .success(()))
                updates = queues.takeOutcome(at: .zero).updates
            }
        }
        #expect(received == (0..<32).map { [$0] })
        #expect(!accepts([32], of: Self.bulk, to: .subscribers, &queues))
        #expect(accepts([32], of: Self.bulk, to: .central(b), &queues))
    }

    /// Values for one, and for all where not everybody can be reached alone, do not overtake one another.
    @Test func waysKeepTheOrder() {
        var queues = TransmitQueues(policies: [:], window: 1)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        queues.subscribed(b, to: Self.bulk, isAddressable: true)
        let all: [UpdateRecipients] = [
            .central(a), .subscribers, .central(a), .subscribers, .central(b),
        ]
        var order: [BackendUpdate] = []
        for (number, recipients) in zip(0..., all) {
            // Empty ones cannot go to each alone.
            let value = recipients == .subscribers ? [] : [UInt8(number)]
            #expect(accepts(value, of: Self.bulk, to: recipients, &queues))
            order += queues.takeOutcome(at: .zero).updates
        }
        var index = 0
        while index < order.count {
            queues.ended(order[index].id, .success(()))
            order += queues.takeOutcome(at: .zero).updates
            index += 1
        }
        #expect(order.map(\.value) == [[0], [], [2], [], [4]])
        #expect(order.map { UpdateRecipients($0.recipients) } == all)
    }

    @Test func aBulkTransferDoesNotStarveOthers() {
        var queues = queues(subscribed: [a])
        for value in 0..<32 as Range<UInt8> {
            _ = accepts([value], of: Self.bulk, to: .central(a), &queues)
            if value == 15 { _ = queues.takeOutcome(at: .zero) }
        }
        let sent = queues.takeOutcome(at: .zero).updates
        #expect(sent.isEmpty)
        #expect(accepts([1], of: Self.other, to: .subscribers, &queues))
        #expect(queues.takeOutcome(at: .zero).updates.isEmpty)
        queues.ended(BackendUpdate.ID(0), .success(()))
        queues.ended(BackendUpdate.ID(1), .success(()))
        let next = queues.takeOutcome(at: .zero).updates
        #expect(Set(next.map(\.characteristic)) == [Self.bulk, Self.other])
    }

    /// One after the other becomes free, and each is wanted by a transfer of its own.
    @Test func transfersToEachDoNotStarveWhatIsForAll() {
        var queues = queues(subscribed: [a, b])
        queues.subscribed(a, to: Self.other, isAddressable: false)
        var underWay: [BackendUpdate] = []
        for step in 0..<200 {
            for central in [a, b] {
                while accepts([1], of: Self.bulk, to: .central(central), &queues) {
                    underWay += queues.takeOutcome(at: .zero).updates
                }
            }
            if step == 100 { #expect(accepts([2], of: Self.other, to: .subscribers, &queues)) }
            underWay += queues.takeOutcome(at: .zero).updates
            queues.ended(underWay.removeFirst().id, .success(()))
        }
        let forAll = QueueReport.ofEachQueue(in: queues).filter {
            $0.characteristic == Self.other && $0.central == nil
        }
        #expect(forAll.map(\.counters.sent) == [1])
    }

    @Test func anEmptyValueTakesAnotherWay() {
        var queues = TransmitQueues(policies: [:], window: 0)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        queues.subscribed(b, to: Self.bulk, isAddressable: true)
        guard case .failed(let error) = queues.offer([], of: Self.bulk, to: .central(a)) else {
            Issue.record("an empty value for one of them was taken")
            return
        }
        #expect(error.code == .notAddressable)
        while accepts([], of: Self.bulk, to: .subscribers, &queues) {}
        // There is room for others, but not for any value.
        queues.wait(0, for: Self.bulk, to: .subscribers, with: nil)
        #expect(accepts([1], of: Self.bulk, to: .subscribers, &queues))
        _ = queues.takeOutcome(at: .zero)
        let answers = queues.takeOutcome(at: .zero).answers
        #expect(answers.isEmpty)
    }

    @Test func onlyWhoReallyWaitsIsCounted() {
        var queues = queues(subscribed: [a])
        queues.wait(0, for: Self.bulk, to: .central(a), with: [0])
        _ = queues.takeOutcome(at: .zero)
        #expect(QueueReport.ofEachQueue(in: queues).map(\.counters.waits) == [0])
        while accepts([1], of: Self.bulk, to: .central(a), &queues) { _ = queues.takeOutcome(at: .zero) }
        queues.wait(1, for: Self.bulk, to: .central(a), with: [0])
        for _ in 0..<3 { _ = queues.takeOutcome(at: .zero) }
        #expect(QueueReport.ofEachQueue(in: queues).map(\.counters.waits) == [1])
        // Also who only waits to know of room.
        queues.wait(2, for: Self.bulk, to: .central(a), with: nil)
        for _ in 0..<3 { _ = queues.takeOutcome(at: .zero) }
        #expect(QueueReport.ofEachQueue(in: queues).map(\.counters.waits) == [2])
    }

    @Test func whoCannotBeReachedAloneIsReachedWithAll() {
        var queues = queues(subscribed: [a, b], isAddressable: false)
        #expect(accepts([1], of: Self.bulk, to: .subscribers, &queues))
        #expect(queues.takeOutcome(at: .zero).updates.map(\.recipients) == [.subscribers])
        guard case .failed(let error) = queues.offer([1], of: Self.bulk, to: .central(a)) else {
            Issue.record("a value for one of them was taken")
            return
        }
        #expect(error.code == .notAddressable)
        // Without another subscriber, a value for all reaches only this central.
        queues.unsubscribed(b, from: Self.bulk)
        #expect(accepts([2], of: Self.bulk, to: .central(a), &queues))
    }

    @Test func theLongestWaitIsThatOfTheQueue() {
        var queues = TransmitQueues(policies: [:], window: 1)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        for second in 0..<3 {
            _ = queues.offer([0], of: Self.bulk, to: .subscribers)
            _ = queues.takeOutcome(at: .seconds(second))
        }
        queues.ended(BackendUpdate.ID(0), .success(()))
        _ = queues.takeOutcome(at: .seconds(10))
        queues.ended(BackendUpdate.ID(1), .success(()))
        _ = queues.takeOutcome(at: .seconds(11))
        let report = QueueReport.ofEachQueue(in: queues)[0]
        #expect(report.counters.longestWait == .seconds(9))
        #expect(report.counters.sent == 2)
        #expect(report.counters.inFlight == 1)
    }

    /// The document waits 3 s for the value before it, its second chunk 4 s, and the value behind it 5 s.
    @Test func theWaitsOfADocumentAreThoseForItsChunks() {
        var queues = TransmitQueues(policies: [:], window: 1)
        queues.subscribed(a, to: Self.bulk, isAddressable: true)
        let document = Document(bytes: [1, 2], chunkSize: 1, endMarker: nil)
        _ = queues.offer([0], of: Self.bulk, to: .subscribers)
        queues.begin(1, document, of: Self.bulk, to: .subscribers, isStanding: false)
        _ = queues.takeOutcome(at: .zero)
        for (number, (second, longest)) in [(3, 3), (7, 4), (8, 5)].enumerated() {
            if number == 0 { _ = queues.offer([0], of: Self.bulk, to: .subscribers) }
            queues.ended(BackendUpdate.ID(UInt64(number)), .success(()))
            _ = queues.takeOutcome(at: .seconds(second))
            #expect(QueueReport.ofEachQueue(in: queues).map(\.counters.longestWait) == [.seconds(longest)])
        }
    }

    @Test func whatIsGivenUpIsNeitherSentNorDropped() {
        var queues = queues(subscribed: [a])
        for _ in 0..<3 { _ = queues.offer([0], of: Self.bulk, to: .subscribers) }
        let updates = queues.takeOutcome(at: .zero).updates
        queues.ended(updates[0].id, .success(()), isKnown: false)
        queues.ended(updates[1].id, .failure(.unconfirmed))
        queues.disconnected(a)
        queues.ended(updates[2].id, .success(()), isKnown: false)
        let counters = QueueReport.ofEachCharacteristic(in: queues).map(\.counters)
        #expect(counters.map(\.givenUp) == [3])
        #expect(counters.map { $0.sent + $0.dropped } == [0])
    }

    /// Six values for each of two, of which two are on their way, when the one leaves and the other
    /// unsubscribes.
    @Test func totalsOutliveSubscriptions() throws {
        var queues = TransmitQueues(policies: [:], window: 0)
        for central in [a, b] { queues.subscribed(central, to: Self.bulk, isAddressable: true) }
        for _ in 0..<6 { _ = queues.offer([0], of: Self.bulk, to: .subscribers) }
        #expect(queues.takeOutcome(at: .zero).updates.isEmpty)
        queues.setWindow(2)
        let updates = queues.takeOutcome(at: .seconds(6)).updates
        queues.disconnected(a)
        queues.unsubscribed(b, from: Self.bulk)
        var total = try #require(QueueReport.ofEachCharacteristic(in: queues).first)
        #expect((total.counters.queued, total.counters.inFlight) == (0, 4))
        #expect((total.counters.sent, total.counters.dropped) == (0, 8))
        #expect(total.counters.longestWait == .seconds(6))
        queues.ended(updates[0].id, .success(()))
        queues.ended(updates[1].id, .failure(.notSubscribed))
        // Of the others, no more will be heard.
        queues.suspended()
        total = try #require(QueueReport.ofEachCharacteristic(in: queues).first)
        #expect((total.counters.queued, total.counters.inFlight) == (0, 0))
        #expect((total.counters.sent, total.counters.dropped) == (1, 11))
        #expect(QueueReport.ofEachQueue(in: queues).isEmpty)
        #expect(QueueReport.ofEachCharacteristic(in: queues).count == 1)
    }

    @Test func totalsGoOnWithTheNextSubscription() throws {
        var queues = TransmitQueues(policies: [Self.bulk: .reject(beyond: 1)], window: 0)
        for isFirst in [true, false] {
            queues.subscribed(a, to: Self.bulk, isAddressable: true)
            #expect(accepts([0], of: Self.bulk, to: .subscribers, &queues))
            #expect(!accepts([1], of: Self.bulk, to: .subscribers, &queues))
            if isFirst { queues.disconnected(a) }
        }
        let total = try #require(QueueReport.ofEachCharacteristic(in: queues).first?.counters)
        #expect((total.queued, total.dropped, total.refused) == (1, 1, 2))
    }
}

/// Whether a value finds room.
func accepts(
    _ value: [UInt8],
    of characteristic: AttributeHandle,
    to recipients: UpdateRecipients,
    _ queues: inout TransmitQueues
) -> Bool {
    guard case .accepted = queues.offer(value, of: characteristic, to: recipients) else {
        return false
    }
    return true
}
