import PeripheralCore
import PeripheralKit
import Testing

/// What becomes of a session while its backend is off the air.
@Suite(.timeLimit(.minutes(1)))
struct SuspensionTests {
    private static let value = Characteristic<UInt8>(0x2A19, [.notify, .indicate])
    private static let handle: AttributeHandle = 3

    private func run(
        _ body:
            @escaping @Sendable (PeripheralSession, any PeripheralHost, RecordingLink, Peripheral)
            async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { Self.value } }
        let link = RecordingLink()
        let (hosts, host) = AsyncStream.makeStream(of: (any PeripheralHost).self)
        let backend = ScriptedBackend { _, served in
            served.handle(.published(PublishedPeripheral(link: link)))
            host.yield(served)
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            for await host in hosts {
                return try await body(session, host, link, peripheral)
            }
        }
    }

    private static func central() throws -> Central {
        Central(address: try #require(DeviceAddress(rawValue: 7)))
    }

    @Test func whatIsUnderWayEndsByWhomItIsFor() async throws {
        try await run { session, host, link, _ in
            let central = try Self.central()
            host.handle(.connected(central))
            host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
            let toAll = Task { try await session.notify(Self.value, 1) }
            _ = await link.next()
            let toOne = Task { try await session.notify(Self.value, 2, to: central) }
            _ = await link.next()
            let indication = Task { try await session.indicate(Self.value, 3) }
            _ = await link.next()
            host.handle(.suspended)
            try await toAll.value
            for task in [toOne, indication] {
                let error = await #expect(throws: PeripheralError.self) { try await task.value }
                #expect(error?.code == .disconnected)
            }
        }
    }

    @Test func everybodyIsGone() async throws {
        try await run { session, host, _, peripheral in
            let central = try Self.central()
            var events = session.events.makeAsyncIterator()
            host.handle(.connected(central))
            host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
            #expect(session.state.isOnTheAir)
            host.handle(.suspended)
            #expect(session.centrals.isEmpty && session.subscriptions.isEmpty)
            #expect(!session.state.isOnTheAir)
            var seen: [String] = []
            while seen.count < 4, let event = try await events.next() {
                switch event {
                case .connected: seen.append("connected")
                case .subscribed: seen.append("subscribed")
                case .unsubscribed: seen.append("unsubscribed")
                case .disconnected: seen.append("disconnected")
                default: break
                }
            }
            #expect(seen == ["connected", "subscribed", "unsubscribed", "disconnected"])
        }
    }

    /// The report of a publication may still be under way when the stack is lost.
    @Test func aPublicationThatWasLostAlreadyIsNotOnTheAir() async throws {
        try await run { session, host, link, _ in
            let lost = PeripheralState(radio: .resetting, reason: "bluetoothd has ended.")
            host.handle(.stateChanged(lost))
            host.handle(.published(PublishedPeripheral(link: link)))
            #expect(session.state == lost)
        }
    }

    @Test func updatesReachNobodyUntilItIsPublishedAgain() async throws {
        try await run { session, host, link, _ in
            host.handle(.suspended)
            // More than have room at a time: each gives its place back.
            for _ in 0..<100 { try await session.notify(Self.value, 1) }
            try await session.indicate(Self.value, 2)
            #expect(link.sent.isEmpty)
            let error = await #expect(throws: PeripheralError.self) { try await session.bondedCentrals() }
            #expect(error?.code == .connectionLost)
            let next = RecordingLink()
            next.deliver(for: host)
            host.handle(.published(PublishedPeripheral(link: next)))
            let central = try Self.central()
            host.handle(.connected(central))
            host.handle(.subscribed(BackendSubscription(characteristic: Self.handle, central: central)))
            for _ in 0..<100 { try await session.notify(Self.value, 3) }
            #expect(next.sent.count == 100)
            #expect(link.sent.isEmpty)
            // The session stops the link that it has now; the script waits for the first.
            link.stop()
        }
    }
}
