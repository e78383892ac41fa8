import PeripheralCore
import PeripheralTesting
import Synchronization
import Testing

@testable import PeripheralKit

/// Who is expected, when bonds and adapters change below a peripheral that runs.
@Suite(.timeLimit(.minutes(1)))
final class BondTests: Sendable {
    private static let adapter = DeviceAddress.numbered(1)
    private static let handle = AttributeHandle(rawValue: 3)

    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify], updates: .durable) { Read { 7 } }
    private let phone = Central(address: .numbered(7), isBonded: true)
    private let store = InMemoryRestorationStore()

    private func publication(by link: RecordingLink, on adapter: DeviceAddress = adapter) -> BackendEvent {
        .published(PublishedPeripheral(link: link, adapter: adapter))
    }

    /// Runs the peripheral; the phone is bonded.
    private func run(
        on adapter: DeviceAddress = adapter,
        _ body:
            @escaping @Sendable (any PeripheralHost, RecordingLink, PeripheralSession) async throws -> Void
    ) async throws {
        let link = RecordingLink()
        link.bonds.withLock { $0 = [phone] }
        let peripheral = Peripheral("Bonds", restorationIdentifier: "com.example.bonds") {
            GATTService(.battery) { level }
        }
        try await peripheral.run(by: link, on: adapter, restoringFrom: store) { session, host in
            try await body(host, link, session)
        }
    }

    /// The phone subscribes, and is away.
    private func subscribeAndLeave() async throws {
        try await run { [phone] host, _, session in
            host.handle(.connected(phone))
            host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: phone)))
            host.handle(.disconnected(phone.id))
            try await session.preserve()
        }
    }

    private func next(
        _ events: inout (some AsyncIteratorProtocol<SessionEvent, Never>)
    ) async -> RestoredSubscriber? {
        while let event = await events.next(isolation: nil) {
            if case .restoredSubscriberChanged(let subscriber) = event { return subscriber }
        }
        return nil
    }

    @Test func bondsAreLookedAtAgainWhenTheStackIsBack() async throws {
        try await subscribeAndLeave()
        try await run { [self] host, link, session in
            #expect(session.restored?.subscribers.map(\.status) == [.expected])
            var events = session.events.makeAsyncIterator()
            host.handle(.suspended)
            link.bonds.withLock { $0 = [] }
            host.handle(publication(by: link))
            #expect(await next(&events)?.status == .mustSubscribeAgain)
        }
    }

    @Test func aBondThatSomebodyElseRemovesIsGone() async throws {
        try await subscribeAndLeave()
        try await run { [self] host, link, session in
            var events = session.events.makeAsyncIterator()
            link.bonds.withLock { $0 = [] }
            host.handle(.forgotten(phone.id))
            #expect(await next(&events)?.status == .mustSubscribeAgain)
        }
    }

    @Test func aStartOnAnotherAdapterLosesNothing() async throws {
        try await subscribeAndLeave()
        try await run { [level] _, _, session in try await session.notify(level, 1) }
        try await run(on: .numbered(2)) { [self] _, link, session in
            #expect(session.restored?.subscribers.map(\.status) == [.mustSubscribeAgain])
            link.bonds.withLock { $0 = [] }
            try await session.notify(level, 2)
            try await session.preserve()
        }
        try await run { [level] _, _, session in
            #expect(session.restored?.subscribers.map(\.status) == [.expected])
            try await session.notify(level, 3)
        }
        let restorationState = try #require(store["com.example.bonds"])
        #expect(try PreservedState(decoding: restorationState).updates.map(\.value) == [[1], [3]])
    }

    @Test func whoComesWhenThereIsNoRoomIsToldToTheProgram() async throws {
        try await run { host, _, session in
            for number in 0...UInt64(PreservedSchema.maximumSubscribers) {
                let address = try #require(DeviceAddress(rawValue: 0xC0FF_EE10_0000 | number))
                let central = Central(address: address)
                host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
                // Under the thread sanitizer, the loop takes more than 10 s. Other tests need the thread.
                await Task.yield()
            }
            for await event in session.events {
                guard case .restorationFailed(let problem) = event else { continue }
                #expect(problem.operation == .save && problem.error.code == .tooLarge)
                break
            }
        }
    }
}
