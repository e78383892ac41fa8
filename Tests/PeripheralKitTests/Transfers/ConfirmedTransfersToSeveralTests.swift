import PeripheralCore
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

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
        let document = Document(bytes: whole, chunkSize: 10, endMarker: marker, isConfirmed: true)
        let sending = Task { [sender] in
            try await sender.transfer(document, over: Self.bulk, to: .subscribers, isStanding: false) { _ in }
        }
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

/// A stack that holds what it is given until a test takes it.
private final class HoldingLink: BackendLink {
    private let updates = Mutex<[BackendUpdate]>([])

    var underWay: [BackendUpdate] { updates.withLock(\.self) }

    func take(to recipients: BackendUpdate.Recipients) -> BackendUpdate? {
        updates.withLock { updates in
            let index = updates.firstIndex { $0.recipients == recipients }
            return index.map { updates.remove(at: $0) }
        }
    }

    func submit(_ update: BackendUpdate) {
        updates.withLock { $0.append(update) }
    }

    func giveUp(_ update: BackendUpdate.ID) {}
    func disconnect(_ central: Central.ID) async throws {}
    func bondedCentrals() async throws -> [Central] { [] }
    func forget(_ central: Central.ID) async throws {}
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {}
    func stop() {}
}
