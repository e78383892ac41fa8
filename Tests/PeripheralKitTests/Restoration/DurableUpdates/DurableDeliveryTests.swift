import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// How what is kept for a subscriber leaves, on a stack from which updates leave when the test says so.
@Suite(.timeLimit(.minutes(1)))
final class DurableDeliveryTests: Sendable {
    private static let handle: AttributeHandle = 3

    private let audit = Characteristic<UInt8>(
        "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001",
        [.read, .write, .notify],
        updates: .durable(beyond: 4)
    ) {
        PersistentValue(initially: 0)
    }
    private let central = Central(address: .numbered(1), isBonded: true)
    private let store = InMemoryRestorationStore()
    private let link = RecordingLink()
    private let clock = ManualClock()
    /// How many of the updates that were submitted the test has looked at.
    private let taken = Mutex(0)

    /// Runs the body with a bonded central that has subscribed.
    private func run(
        _ body: @escaping @Sendable (PeripheralSession, any PeripheralHost) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Audit", restorationIdentifier: "com.example.audit") {
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { audit }
        }
        try await peripheral.run(by: link, restoringFrom: store, clock: clock) { [self] session, host in
            comeBack(host)
            try await body(session, host)
        }
    }

    private func comeBack(_ host: any PeripheralHost) {
        host.handle(.connected(central))
        host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
    }

    private func update(_ values: ClosedRange<UInt8>, _ session: PeripheralSession) throws {
        for value in values { #expect(try session.update(audit, value)) }
    }

    /// The values of the next updates that are submitted.
    private func next(_ count: Int) async -> [BackendUpdate] {
        var updates: [BackendUpdate] = []
        for _ in 0..<count {
            if let update = await link.next() { updates.append(update) }
        }
        taken.withLock { $0 += count }
        return updates
    }

    /// The values of the next updates that are submitted, the first alone, once the time has passed after
    /// which what has failed is tried again, and the others when it has left.
    private func nextInTurn(_ count: Int, _ host: any PeripheralHost) async throws -> [[UInt8]] {
        var values: [[UInt8]] = []
        for number in 1...count {
            // It may have been submitted already.
            let taken = taken.withLock(\.self)
            try await until {
                if link.sent.count > taken { return true }
                clock.advance(by: .seconds(1))
                return false
            }
            guard let update = await next(1).first else { break }
            if number == 1 { #expect(link.sent.count == taken + 1) }
            values.append(update.value)
            host.handle(.updateEnded(update.id, .completed))
        }
        return values
    }

    /// Has another central write the value.
    private func write(_ value: UInt8, _ host: any PeripheralHost) async {
        let writer = Central(address: .numbered(2))
        let outcome: BackendAnswer.Outcome = await withCheckedContinuation { continuation in
            switch host.write(BackendWriteRequest(attribute: Self.handle, value: [value], central: writer)) {
            case .immediate(let outcome): continuation.resume(returning: outcome)
            case .deferred(let start): start { continuation.resume(returning: $0) }
            }
        }
        #expect(outcome == .success([]))
    }

    @Test func whatHasNotLeftWhenItsCentralLeavesComesAgain() async throws {
        try await run { [self] session, host in
            try update(1...3, session)
            let first = await next(3)
            #expect(first.map(\.value) == [[1], [2], [3]])
            for update in first { host.handle(.updateTaken(update.id)) }
            host.handle(.updateEnded(first[0].id, .completed))
            host.handle(.disconnected(central.id))
            for update in first.dropFirst() { host.handle(.updateEnded(update.id, .failed(.disconnected))) }
            comeBack(host)
            let second = try await nextInTurn(2, host)
            #expect(second == [[2], [3]])
        }
    }

    @Test func whatComesAfterOneThatFailedComesAgainAfterIt() async throws {
        try await run { [self] session, host in
            try update(1...3, session)
            let first = await next(3)
            host.handle(.updateEnded(first[1].id, .completed))
            host.handle(.updateEnded(first[0].id, .failed(.unconfirmed)))
            host.handle(.updateEnded(first[2].id, .completed))
            let second = try await nextInTurn(3, host)
            #expect(second == [[1], [2], [3]])
        }
    }

    @Test func thereIsRoomWhenSomethingHasLeft() async throws {
        try await run { [self] session, host in
            try update(1...4, session)
            #expect(try !session.update(audit, 5))
            let updates = await next(4)
            host.handle(.updateTaken(updates[0].id))
            #expect(try !session.update(audit, 5))
            async let ready: Void = session.readyToUpdate(audit)
            async let notified: Void = session.notify(audit, 6)
            host.handle(.updateEnded(updates[0].id, .completed))
            host.handle(.updateEnded(updates[1].id, .completed))
            _ = try await (ready, notified)
            let values = await next(1).map(\.value)
            #expect(values == [[6]])
        }
    }

    /// What was promised to be kept does not go for what another central writes, who is not kept from writing
    /// either.
    @Test func aWriteTakesNoRoomFromOthers() async throws {
        try await run { [self] session, host in
            for value in 1...4 as ClosedRange<UInt8> { try await session.notify(audit, value) }
            for value in 5...9 as ClosedRange<UInt8> { await write(value, host) }
            #expect(try !session.update(audit, 10))
            let updates = await next(9)
            #expect(updates.map(\.value) == (1...9).map { [$0] })
            #expect(session.restorationStatistics.droppedUpdates == 0)
            host.handle(.disconnected(central.id))
            // Now it is away, and gets the newest.
            #expect(try session.update(audit, 10))
            #expect(session.restorationStatistics.droppedUpdates == 6)
        }
    }

    @Test func whoWaitsForRoomGoesOnWhenTheCentralLeaves() async throws {
        try await run { [self] session, host in
            try update(1...4, session)
            async let ready: Void = session.readyToUpdate(audit)
            _ = await next(4)
            host.handle(.disconnected(central.id))
            try await ready
        }
    }

    @Test func whoWaitsForRoomCanBeCancelled() async throws {
        try await run { [self] session, _ in
            try update(1...4, session)
            let waiting = Task { try await session.readyToUpdate(audit) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    /// A persistent value is sent as its characteristic is declared.
    @Test func aPersistentValueIsKeptForWhoIsAway() async throws {
        try await run { [self] session, host in
            host.handle(.disconnected(central.id))
            try await session.set(audit, to: 7)
            await write(8, host)
            comeBack(host)
            let values = try await nextInTurn(2, host)
            #expect(values == [[7], [8]])
        }
    }
}
