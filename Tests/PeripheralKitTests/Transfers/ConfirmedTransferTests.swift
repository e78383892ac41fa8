import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// Documents whose chunks are confirmed, over a link that a test drives.
@Suite(.timeLimit(.minutes(1)))
struct ConfirmedTransferTests {
    private let text = Characteristic<[UInt8]>(0x2A3D, .indicate)
    private let other = Characteristic<[UInt8]>(0x2A3E, .indicate)
    private let central = Central(address: .numbered(1))
    private let link = RecordingLink()
    private let clock = ManualClock()
    private let marker = Array("EOM".utf8)
    private let first: [UInt8] = Array(repeating: 1, count: 20)
    private let second: [UInt8] = Array(repeating: 2, count: 20)

    private func run(
        _ body:
            @escaping @Sendable (PeripheralSession, any PeripheralHost, AttributeHandle) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Transfers") {
            GATTService(0x180F) {
                text; other
            }
        }
        let (hosts, give) = AsyncStream.makeStream(of: (any PeripheralHost, AttributeHandle).self)
        let backend = ScriptedBackend { [self] publication, host in
            host.handle(.connected(central))
            let handles = (0..<2).map { publication.table.valueHandle(service: 0, characteristic: $0) }
            for handle in handles {
                host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
            }
            link.deliver(for: host)
            give.yield((host, handles[0]))
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { session in
            for await (host, handle) in hosts { return try await body(session, host, handle) }
        }
    }

    private func send(_ chunks: [UInt8]..., by session: PeripheralSession) -> Task<Void, any Error> {
        Task { [self] in
            try await session.send(Array(chunks.joined()), over: text, to: central, by: .indication)
        }
    }

    /// Returns when so many calls have begun that wait for something.
    private func untilWaiting(_ count: Int, in session: PeripheralSession) async throws {
        try await until {
            session.runtime.updates.state.withLock { $0.transfers.count + $0.callers.count == count }
        }
    }

    /// Confirms an update and all after it, until it is a value.
    private func confirm(_ update: BackendUpdate?, until last: [UInt8], _ host: any PeripheralHost) async
        -> [[UInt8]]
    {
        var (update, values): (BackendUpdate?, [[UInt8]]) = (update, [])
        while let submitted = update {
            values.append(submitted.value)
            if submitted.awaitsConfirmation { host.handle(.updateEnded(submitted.id, .completed)) }
            guard submitted.value != last else { return values }
            update = await link.next()
        }
        return values
    }

    @Test func anIndicationOfTheSameCharacteristicWaitsForTheDocument() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            let same = Task { try await session.indicate(text, [9], to: central) }
            try await untilWaiting(2, in: session)
            let another = Task { try await session.indicate(other, [8], to: central) }
            try await untilWaiting(3, in: session)
            // What is of another characteristic comes between the chunks.
            #expect(await confirm(chunk, until: [9], host) == [first, [8], second, marker, [9]])
            for task in [document, same, another] { try await task.value }
        }
    }

    @Test func anIndicationToAllWaitsForTheDocument() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            let all = Task { try await session.indicate(text, [9]) }
            try await untilWaiting(2, in: session)
            #expect(await confirm(chunk, until: [9], host) == [first, second, marker, [9]])
            for task in [document, all] { try await task.value }
        }
    }

    @Test func whatCameBeforeTheDocumentComesBeforeIt() async throws {
        try await run { [self] session, host, _ in
            let before = Task { try await session.indicate(other, [8], to: central) }
            let outstanding = await link.next()
            let same = Task { try await session.indicate(text, [9], to: central) }
            try await untilWaiting(2, in: session)
            let document = send(first, by: session)
            try await untilWaiting(3, in: session)
            #expect(await confirm(outstanding, until: marker, host) == [[8], [9], first, marker])
            for task in [before, same, document] { try await task.value }
        }
    }

    @Test func documentsToTheSameCentralDoNotMix() async throws {
        try await run { [self] session, host, _ in
            let one = send(first, first, by: session)
            let chunk = await link.next()
            let other = send(second, second, by: session)
            try await untilWaiting(2, in: session)
            var values = await confirm(chunk, until: marker, host)
            values += await confirm(await link.next(), until: marker, host)
            #expect(values == [first, first, marker, second, second, marker])
            for task in [one, other] { try await task.value }
        }
    }

    @Test func theMarkOfOneThatIsCancelledComesBeforeTheNext() async throws {
        try await run { [self] session, host, _ in
            let cancelled = send(first, first, by: session)
            let chunk = await link.next()
            let next = send(second, by: session)
            try await untilWaiting(2, in: session)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            var values = await confirm(chunk, until: second, host)
            values += await confirm(await link.next(), until: marker, host)
            #expect(values == [first, marker, second, marker])
            try await next.value
        }
    }

    @Test func oneThatIsCancelledBeforeItHasBegunLeavesNothing() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, by: session)
            let chunk = await link.next()
            let cancelled = send(second, by: session)
            try await untilWaiting(2, in: session)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let last = Task { try await session.indicate(text, [9], to: central) }
            try await untilWaiting(2, in: session)
            #expect(await confirm(chunk, until: [9], host) == [first, marker, [9]])
            for task in [document, last] { try await task.value }
        }
    }

    /// A chunk waits for its turn behind an indication of another characteristic.
    @Test func aChunkOfAnEarlierSubscriptionIsNotSent() async throws {
        try await run { [self] session, host, handle in
            let document = send(first, second, by: session)
            let chunk = try #require(await link.next())
            let another = Task { try await session.indicate(other, [8], to: central) }
            try await untilWaiting(2, in: session)
            host.handle(.updateEnded(chunk.id, .completed))
            let outstanding = await link.next()
            // The next chunk waits behind it.
            try await untilWaiting(2, in: session)
            host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
            #expect(await confirm(outstanding, until: marker, host) == [[8], first, second, marker])
            for task in [document, another] { try await task.value }
        }
    }

    @Test func aValueOfTheSameCharacteristicFollowsTheDocument() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            #expect(try session.update(text, [9]))
            #expect(await confirm(chunk, until: [9], host) == [first, second, marker, [9]])
            try await document.value
        }
    }

    @Test func whoHasPartOfOneThatHasFailedIsToldByTheMarkOfTheNext() async throws {
        try await run { [self] session, host, _ in
            let lost = send(first, by: session)
            let chunk = try #require(await link.next())
            await clock.waitForSleeper()
            clock.advance(by: .seconds(30))
            let error = await #expect(throws: PeripheralError.self) { try await lost.value }
            #expect(error?.code == .unconfirmed)
            #expect(await link.nextGivenUp() == chunk.id)
            let next = send(second, by: session)
            try await untilWaiting(1, in: session)
            host.handle(.updateEnded(chunk.id, .failed(PeripheralError(code: .unconfirmed, message: ""))))
            var values = await confirm(await link.next(), until: second, host)
            values += await confirm(await link.next(), until: marker, host)
            #expect(values == [marker, second, marker])
            try await next.value
        }
    }

    @Test(arguments: [false, true])
    func aCentralThatLeavesEndsIt(isWaiting: Bool) async throws {
        try await run { [self] session, host, _ in
            var another: Task<Void, any Error>?
            if isWaiting {
                another = Task { try await session.indicate(other, [8], to: central) }
                _ = await link.next()
            }
            let document = send(first, by: session)
            if isWaiting { try await untilWaiting(2, in: session) } else { _ = await link.next() }
            host.handle(.disconnected(central.id))
            let error = await #expect(throws: PeripheralError.self) { try await document.value }
            #expect(error?.code == .disconnected)
            if let another { await #expect(throws: PeripheralError.self) { try await another.value } }
            #expect(session.updateTotals.allSatisfy { $0.counters.inFlight == 0 })
        }
    }

    @Test func whoAsksForNotificationsMeanwhileGetsNoMore() async throws {
        try await run { [self] session, host, handle in
            let document = send(first, second, by: session)
            let chunk = try #require(await link.next())
            let anew = BackendSubscription(characteristic: handle, central: central, kind: .notification)
            host.handle(.subscribed(anew))
            host.handle(.updateEnded(chunk.id, .failed(.notSubscribed)))
            let error = await #expect(throws: PeripheralError.self) { try await document.value }
            #expect(error?.code == .notSubscribed)
        }
    }

    @Test func itIsCountedAsItsChunks() async throws {
        try await run { [self] session, host, _ in
            let document = send(first, second, by: session)
            let chunk = await link.next()
            #expect(session.updateStatistics.map(\.counters.inFlight) == [1])
            _ = await confirm(chunk, until: marker, host)
            try await document.value
            #expect(session.updateStatistics.map(\.counters.sent) == [3])
        }
    }
}

/// Documents whose chunks are confirmed, for several centrals, over a stack that a test drives.
@Suite(.timeLimit(.minutes(1)))
struct ConfirmedTransfersToSeveralTests {
    private static let bulk: AttributeHandle = 3
    private let marker: [UInt8] = [0xFF, 0xFF]
    private let centrals = (1...3).map { Central(address: .numbered($0)) }
    private let link = HoldingLink()
    private let sender = UpdateSender(policies: [:], clock: ContinuousClock())
    private var whole: [UInt8] { Array(0..<30) }

    private func subscription(
        _ central: Central,
        isAddressable: Bool = true,
        kind: UpdateKind? = nil
    ) -> BackendSubscription {
        BackendSubscription(
            characteristic: Self.bulk,
            central: central,
            kind: kind,
            isAddressable: isAddressable
        )
    }

    private func begin(with count: Int, areAddressable: Bool = true) {
        sender.begin(PublishedPeripheral(link: link))
        for central in centrals.prefix(count) {
            sender.subscribed(subscription(central, isAddressable: areAddressable))
        }
    }

    /// Begins a document, and waits for its first chunks.
    private func send(
        _ bytes: [UInt8]? = nil,
        to recipients: UpdateRecipients = .subscribers,
        chunks: Int
    ) async throws -> Task<Void, any Error> {
        let document = Document(bytes: bytes ?? whole, chunkSize: 10, endMarker: marker, isConfirmed: true)
        let sending = Task { [sender] in
            try await sender.transfer(document, over: Self.bulk, to: recipients, isStanding: false) { _ in }
        }
        try await until { link.underWay.count == chunks }
        return sending
    }

    /// Ends the updates in flight to these recipients, one after the other.
    ///
    /// Ends at most `atMost` updates, and returns their values.
    private func end(
        _ recipients: BackendUpdate.Recipients,
        _ code: PeripheralError.Code? = nil,
        atMost: Int = .max
    ) -> [[UInt8]] {
        var values: [[UInt8]] = []
        while values.count < atMost, let update = link.take(to: recipients) {
            values.append(update.value)
            let failure = code.map { BackendUpdateOutcome.failed(PeripheralError(code: $0, message: "")) }
            sender.ended([(update.id, failure ?? .completed)])
        }
        return values
    }

    private func code(of sending: Task<Void, any Error>) async -> PeripheralError.Code? {
        do {
            try await sending.value
            return nil
        } catch {
            return (error as? PeripheralError)?.code
        }
    }

    private var chunks: [[UInt8]] { [Array(0..<10), Array(10..<20), Array(20..<30), marker] }

    @Test func eachConfirmsAtItsOwnSpeed() async throws {
        begin(with: 2)
        let sending = try await send(chunks: 2)
        #expect(link.underWay.map(\.awaitsConfirmation) == [true, true])
        #expect(end(.central(centrals[1].id)) == chunks)
        #expect(link.underWay.count == 1)
        #expect(end(.central(centrals[0].id)) == chunks)
        #expect(await code(of: sending) == nil)
    }

    @Test func itIsForThoseAloneWhoAreNamed() async throws {
        begin(with: 3)
        let named = centrals.suffix(2).map(\.id)
        let sending = try await send(to: .centrals(named + named), chunks: 2)
        for central in named { #expect(end(.central(central)) == chunks) }
        #expect(await code(of: sending) == nil)
    }

    @Test func whoIsNamedAndHasNotSubscribedKeepsItFromAll() async throws {
        begin(with: 1)
        let sending = try await send(to: .centrals(centrals.map(\.id)), chunks: 0)
        #expect(await code(of: sending) == .notSubscribed)
        #expect(link.underWay.isEmpty)
    }

    @Test(arguments: [true, false])
    func whoIsNamedAndLeavesHoldsUpNobody(hasAll: Bool) async throws {
        begin(with: 2)
        let (first, second) = (centrals[0].id, centrals[1].id)
        let sending = try await send(to: .centrals([first, second]), chunks: 2)
        _ = end(.central(first), atMost: hasAll ? 4 : 2)
        sender.disconnected(first)
        _ = link.take(to: .central(first))
        #expect(end(.central(second)) == chunks)
        #expect(await code(of: sending) == (hasAll ? nil : .disconnected))
    }

    @Test func whoIsNamedAndComesBackGetsItAnew() async throws {
        begin(with: 2)
        let (first, second) = (centrals[0].id, centrals[1].id)
        let sending = try await send(to: .centrals([first, second]), chunks: 2)
        sender.disconnected(first)
        _ = link.take(to: .central(first))
        sender.subscribed(subscription(centrals[0]))
        #expect(end(.central(first)) == chunks)
        #expect(end(.central(second)) == chunks)
        #expect(await code(of: sending) == nil)
    }

    @Test func whoSubscribesAnewBeginsAnewAlone() async throws {
        begin(with: 2)
        let sending = try await send(chunks: 2)
        for central in centrals.prefix(2) { _ = end(.central(central.id), atMost: 1) }
        sender.subscribed(subscription(centrals[0]))
        // What is under way to the earlier subscription is over.
        _ = end(.central(centrals[0].id), .notSubscribed, atMost: 1)
        #expect(end(.central(centrals[0].id)) == chunks)
        #expect(end(.central(centrals[1].id)) == Array(chunks.dropFirst()))
        #expect(await code(of: sending) == nil)
    }

    @Test(arguments: [true, false])
    func theMarkEndsWhatIsCancelled(areAddressable: Bool) async throws {
        begin(with: 2, areAddressable: areAddressable)
        let sending = try await send(chunks: areAddressable ? 2 : 1)
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        let recipients: [BackendUpdate.Recipients] =
            areAddressable ? centrals.prefix(2).map { .central($0.id) } : [.subscribers]
        for recipient in recipients { #expect(end(recipient) == [Array(0..<10), marker]) }
    }

    @Test func whoAsksForNotificationsGetsThose() async throws {
        begin(with: 1)
        sender.subscribed(subscription(centrals[1], kind: .notification))
        let sending = try await send(chunks: 5)
        let notified = link.underWay.filter { $0.recipients == .central(centrals[1].id) }
        #expect(notified.map(\.value) == chunks)
        #expect(notified.map(\.awaitsConfirmation) == [false, false, false, false])
        for central in centrals.prefix(2) { #expect(end(.central(central.id)) == chunks) }
        #expect(await code(of: sending) == nil)
    }

    /// What a central has asked for may change while its subscription lasts.
    @Test func whoAsksForIndicationsLaterGetsThoseFromThenOn() async throws {
        begin(with: 0)
        sender.subscribed(subscription(centrals[0], kind: .notification))
        sender.changed(subscription(centrals[0], kind: .indication))
        let sending = try await send(chunks: 1)
        #expect(link.underWay.map(\.awaitsConfirmation) == [true])
        #expect(end(.central(centrals[0].id)) == chunks)
        #expect(await code(of: sending) == nil)
    }

    @Test(arguments: [PeripheralError.Code.disconnected, .notSubscribed])
    func ofThoseReachedTogetherOneThatLeavesHoldsUpNobody(error: PeripheralError.Code) async throws {
        begin(with: 3, areAddressable: false)
        let sending = try await send(chunks: 1)
        _ = end(.subscribers, atMost: 1)
        sender.disconnected(centrals[1].id)
        #expect(end(.subscribers, error, atMost: 1) == [chunks[1]])
        #expect(end(.subscribers) == Array(chunks.dropFirst(2)))
        #expect(await code(of: sending) == nil)
    }

    @Test func ofThoseReachedTogetherOneThatDoesNotConfirmHoldsUpTheOthersOnce() async throws {
        begin(with: 3, areAddressable: false)
        let sending = try await send(chunks: 1)
        #expect(end(.subscribers, .unconfirmed, atMost: 1) == [chunks[0]])
        #expect(end(.subscribers) == Array(chunks.dropFirst()))
        #expect(await code(of: sending) == .unconfirmed)
        #expect(sender.totals.map(\.counters.givenUp) == [1])
        #expect(sender.totals.map(\.counters.sent) == [3])
    }

    @Test func whenNobodyConfirmsTheDocumentFails() async throws {
        begin(with: 2, areAddressable: false)
        let sending = try await send(chunks: 1)
        #expect(end(.subscribers, .unconfirmed, atMost: 3) == Array(chunks.prefix(2)))
        #expect(await code(of: sending) == .unconfirmed)
        // All have a part of it.
        let next = try await send([7], chunks: 1)
        #expect(end(.subscribers) == [marker, [7], marker])
        #expect(await code(of: next) == nil)
    }

    /// BlueZ 5.76 to 5.79 can notify each of several centrals by itself, and not indicate to it.
    @Test func whoCannotBeIndicatedToAloneIsWithAll() async throws {
        begin(with: 2)
        let sending = try await send(chunks: 2)
        for central in centrals.prefix(2) {
            #expect(end(.central(central.id), .notAddressable, atMost: 1) == [chunks[0]])
        }
        #expect(end(.subscribers) == chunks)
        #expect(await code(of: sending) == nil)
    }

    /// BlueZ from 5.80 on may lose a confirmation when another central leaves, and with it the way to who has
    /// given it.
    @Test func whoseConfirmationIsLostGetsAllWithTheOthers() async throws {
        begin(with: 2)
        let sending = try await send(chunks: 2)
        sender.changed(subscription(centrals[0], isAddressable: false))
        #expect(end(.central(centrals[0].id), .unconfirmed, atMost: 1) == [chunks[0]])
        #expect(end(.central(centrals[1].id)) == chunks)
        #expect(end(.subscribers) == [marker] + chunks)
        #expect(await code(of: sending) == nil)
    }

    /// A chunk that waits for its turn among the indications must not come to who has subscribed since.
    @Test func whatWaitsForItsTurnIsForNoLaterSubscription() async throws {
        begin(with: 1, areAddressable: false)
        sender.subscribed(BackendSubscription(characteristic: 6, central: centrals[0]))
        let indicating = Task { [sender] in try await sender.indicate(6, [9], to: .subscribers) }
        try await until { link.underWay.count == 1 }
        let sending = try await send(chunks: 1)
        try await until {
            sender.totals.contains { $0.characteristic == Self.bulk && $0.counters.queued == 1 }
        }
        sender.unsubscribed(Self.bulk, by: centrals[0].id)
        try await sending.value
        sender.subscribed(subscription(centrals[1], isAddressable: false))
        let next = Task { [sender] in try await sender.indicate(Self.bulk, [8], to: .subscribers) }
        try await until { link.underWay.count == 2 }
        #expect(end(.subscribers) == [[9], [8]])
        try await indicating.value
        try await next.value
    }
}
