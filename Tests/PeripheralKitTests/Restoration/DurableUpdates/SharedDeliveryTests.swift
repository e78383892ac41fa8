import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// How what is kept for several subscribers leaves, on a stack that reaches some of them only together with
/// all others, and from which updates leave when the test says so.
@Suite(.timeLimit(.minutes(1)))
final class SharedDeliveryTests: Sendable {
    private static let identifier = "com.example.audit"
    private static let handle: AttributeHandle = 3

    private let phones = [1, 2].map { Central(address: .numbered($0), isBonded: true) }
    private let store = InMemoryRestorationStore()
    private let link = RecordingLink()
    private let clock = ManualClock()

    /// Runs the body on a peripheral whose subscribers the test reports.
    private func run(
        by properties: CharacteristicProperties = .notify,
        _ body:
            @escaping @Sendable (Characteristic<UInt8>, PeripheralSession, any PeripheralHost) async throws ->
            Void
    ) async throws {
        let audit = Characteristic<UInt8>(
            "5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001",
            properties,
            updates: .durable
        )
        let peripheral = Peripheral("Audit", restorationIdentifier: Self.identifier) {
            GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { audit }
        }
        link.bonds.withLock { $0 = phones }
        try await peripheral.run(by: link, restoringFrom: store, clock: clock) { session, host in
            try await body(audit, session, host)
        }
    }

    private func come(
        _ central: Central,
        _ host: any PeripheralHost,
        isAddressable: Bool = false,
        sharesUpdatesForAll: Bool = false
    ) {
        host.handle(.connected(central))
        host.handle(
            .subscribed(
                BackendSubscription(
                    characteristic: Self.handle,
                    central: central,
                    isAddressable: isAddressable,
                    sharesUpdatesForAll: sharesUpdatesForAll
                )
            )
        )
    }

    /// The next update that is submitted, as soon as enough time has passed, or without that any does.
    private func next(_ count: Int, passing time: Duration = .seconds(1)) async throws -> BackendUpdate {
        while link.sent.count < count {
            try Task.checkCancellation()
            clock.advance(by: time)
            await Task.yield()
        }
        return try #require(link.sent.dropFirst(count - 1).first)
    }

    /// Who is still to be sent something, once so much is left.
    private func kept(_ session: PeripheralSession, count: Int) async throws -> [DeviceAddress] {
        while true {
            try Task.checkCancellation()
            try await session.preserve()
            let state = try PreservedState(decoding: try #require(store[Self.identifier]))
            guard state.updates.count > count else { return state.updates.map(\.address) }
            await Task.yield()
        }
    }

    /// Also where each could be reached alone.
    @Test(arguments: [false, true])
    func whatIsKeptForSeveralGoesOnce(isAddressable: Bool) async throws {
        try await run { [self] audit, session, host in
            for phone in phones {
                come(phone, host, isAddressable: isAddressable, sharesUpdatesForAll: isAddressable)
            }
            for value in 1...3 as ClosedRange<UInt8> { #expect(try session.update(audit, value)) }
            for number in 1...3 { host.handle(.updateEnded(try await next(number).id, .completed)) }
            #expect(try await kept(session, count: 0) == [])
            #expect(link.sent.map(\.value) == [[1], [2], [3]])
            #expect(link.sent.map(\.recipients) == [.subscribers, .subscribers, .subscribers])
        }
    }

    @Test func whoLeavesBeforeItHasLeftGetsItOnReturn() async throws {
        try await run { [self] audit, session, host in
            for phone in phones { come(phone, host) }
            #expect(try session.update(audit, 1))
            let update = try await next(1)
            host.handle(.disconnected(phones[0].id))
            host.handle(.updateEnded(update.id, .completed))
            #expect(try await kept(session, count: 1) == [phones[0].address])
            come(phones[0], host)
            host.handle(.updateEnded(try await next(2).id, .completed))
            #expect(try await kept(session, count: 0) == [])
        }
    }

    /// A central that has returned has not yet encrypted its link.
    ///
    /// Until it does, the stack reaches no central.
    @Test func whatCannotReachWhoWasAwayIsKept() async throws {
        try await run { [self] audit, session, host in
            for phone in phones { come(phone, host) }
            host.handle(.disconnected(phones[0].id))
            #expect(try session.update(audit, 1))
            host.handle(.updateEnded(try await next(1).id, .completed))
            #expect(try await kept(session, count: 1) == [phones[0].address])
            come(phones[0], host)
            for number in 2...4 {
                host.handle(.updateEnded(try await next(number).id, .failed(.notYetSecure)))
            }
            let update = try await next(5)
            #expect(update.recipients == .subscribers)
            #expect(try await kept(session, count: 1) == [phones[0].address])
            host.handle(.updateEnded(update.id, .completed))
            #expect(try await kept(session, count: 0) == [])
        }
    }

    /// As where the one that has come back encrypts its link after it was refused a value.
    @Test(arguments: [false, true])
    func nothingOvertakesWhatWasRefused(isPostedBefore: Bool) async throws {
        try await run { [self] audit, session, host in
            for phone in phones { come(phone, host) }
            host.handle(.disconnected(phones[0].id))
            #expect(try session.update(audit, 1))
            host.handle(.updateEnded(try await next(1).id, .completed))
            #expect(try await kept(session, count: 1) == [phones[0].address])
            come(phones[0], host)
            let refused = try await next(2)
            if isPostedBefore { #expect(try session.update(audit, 2)) }
            host.handle(.updateEnded(refused.id, .failed(.notYetSecure)))
            if !isPostedBefore { #expect(try session.update(audit, 2)) }
            try await session.preserve()
            for number in 3...4 { host.handle(.updateEnded(try await next(number).id, .completed)) }
            #expect(try await kept(session, count: 0) == [])
            #expect(link.sent.map(\.value) == [[1], [1], [1], [2]])
        }
    }

    /// As where one has come back and not yet encrypted its link, and the other has a way of its own.
    @Test func whoCanBeReachedAloneIsNotHeldUp() async throws {
        try await run { [self] audit, session, host in
            come(phones[0], host)
            come(phones[1], host, isAddressable: true)
            #expect(try session.update(audit, 1))
            let first = try await next(1)
            #expect(first.recipients == .subscribers)
            host.handle(.updateEnded(first.id, .failed(.notYetSecure)))
            let second = try await next(2)
            #expect(second.recipients == .central(phones[1].id))
            host.handle(.updateEnded(second.id, .completed))
            #expect(try await kept(session, count: 1) == [phones[0].address])
            let third = try await next(3)
            #expect(third.recipients == .subscribers)
            host.handle(.updateEnded(third.id, .completed))
            #expect(try await kept(session, count: 0) == [])
        }
    }

    /// As by BlueZ 5.76 to 5.79, where notifications reach each alone, and indications do not.
    @Test func whatReachesNobodyAloneGoesOnceToAll() async throws {
        try await run(by: .indicate) { [self] audit, session, host in
            for phone in phones { come(phone, host, isAddressable: true) }
            #expect(try session.update(audit, 1))
            let first = [try await next(1), try await next(2)]
            #expect(Set(first.map(\.recipients)) == [.central(phones[0].id), .central(phones[1].id)])
            for update in first { host.handle(.updateEnded(update.id, .failed(.onlyTogether))) }
            let update = try await next(3)
            #expect(update.recipients == .subscribers)
            host.handle(.updateEnded(update.id, .completed))
            #expect(try await kept(session, count: 0) == [])
            #expect(link.sent.count == 3)
        }
    }

    @Test func nobodyGetsItWhenTheBackendIsGone() async throws {
        try await run { [self] audit, session, host in
            for phone in phones { come(phone, host) }
            #expect(try session.update(audit, 1))
            _ = try await next(1)
            host.handle(.suspended)
            #expect(try await kept(session, count: 2) == phones.map(\.address))
            host.handle(.published(PublishedPeripheral(link: link)))
            for phone in phones { come(phone, host) }
            // At once, perhaps to the first alone before the second is there.
            var (number, reached): (Int, Set<Central.ID>) = (2, [])
            while reached.count < phones.count {
                let update = try await next(number, passing: .zero)
                host.handle(.updateEnded(update.id, .completed))
                reached.formUnion(update.requiredRecipients)
                if case .central(let phone) = update.recipients { reached.insert(phone) }
                number += 1
            }
            #expect(try await kept(session, count: 0) == [])
        }
    }
}

extension PeripheralError {
    fileprivate static let notYetSecure = PeripheralError(code: .insufficientSecurity, message: "")
    fileprivate static let onlyTogether = PeripheralError(code: .notAddressable, message: "")
}
