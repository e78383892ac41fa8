import PeripheralCore
import PeripheralTesting
import Testing

@testable import PeripheralKit

/// A restored subscriber describes the central that is connected now.
@Suite(.timeLimit(.minutes(1)))
struct RestoredSubscriberTests {
    private static let identifier = "com.example.door"

    private let isLocked = Characteristic<Bool>(0x2A1A, [.read, .notify]) { PersistentValue(initially: true) }
    private let store = InMemoryRestorationStore()
    private let backend = InMemoryBackend()

    private func run<Output: Sendable>(
        on other: InMemoryBackend? = nil,
        _ body: @escaping @Sendable (VirtualCentral, PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let backend = other ?? backend
        let peripheral = Peripheral("Door", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(.battery) { isLocked }
        }
        return try await peripheral.run(on: backend, restoringFrom: store, logger: .silent) { session in
            try await body(backend.makeCentral(of: peripheral), session)
        }
    }

    /// A central that is bonded, and known by its identity address.
    private func bondedSubscriber() async throws -> VirtualCentral {
        try await run { [isLocked] central, session in
            var user = PairingUser.justWorks
            user.identityAddress = .numbered(7)
            try await central.connect()
            try await central.subscribe(to: isLocked)
            try await central.pair(user)
            let events = session.events
            central.disconnect()
            for await event in events {
                if case .disconnected = event { break }
            }
            return central
        }
    }

    @Test func whoIsBackIsTheCentralThatIsThere() async throws {
        let known = try await bondedSubscriber()
        try await run { [isLocked] _, session in
            #expect(session.restored?.subscribers.map(\.status) == [.expected])
            let events = session.events
            try await known.connect()
            try await known.subscribe(to: isLocked)
            for await event in events {
                guard case .restoredSubscriberChanged(let subscriber) = event else { continue }
                // The event arrives twice: after the connection, and after the subscription.
                #expect(session.centrals.map(\.id) == [subscriber.central.id])
                if subscriber.status == .subscribed { break }
            }
            let subscriber = try #require(session.restored?.subscribers.first)
            #expect(subscriber.status == .subscribed && session.centrals == [subscriber.central])
            try await session.notify(isLocked, false, to: subscriber.central)
            #expect(try await known.nextUpdate(of: isLocked) == false)
        }
    }

    @Test func whoseBondIsGoneIsNotBonded() async throws {
        _ = try await bondedSubscriber()
        try await run(on: InMemoryBackend()) { _, session in
            for await event in session.events {
                guard case .restoredSubscriberChanged(let subscriber) = event else { continue }
                #expect(subscriber.status == .mustSubscribeAgain && !subscriber.central.isBonded)
                break
            }
            #expect(session.restored?.subscribers.map(\.central.isBonded) == [false])
        }
    }

    /// What is saved by a program whose characteristic has no subscribers any more can be read by the next
    /// one.
    @Test func aSubscriberOfWhatCannotBeSubscribedToIsNotPreserved() async throws {
        _ = try await bondedSubscriber()
        let silent = Characteristic<Bool>(0x2A1A, .read) { PersistentValue(initially: true) }
        let changed = Peripheral("Door", restorationIdentifier: Self.identifier) {
            GATTService(.battery) { silent }
        }
        try await changed.run(on: backend, restoringFrom: store, logger: .silent) { session in
            #expect(session.restored?.subscribers.map(\.status) == [.mustSubscribeAgain])
            try await session.preserve()
        }
        let preserved = try PreservedState(decoding: try #require(store[Self.identifier]))
        #expect(preserved.subscribers.isEmpty)
    }
}
