import PeripheralBlueZ
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// What the backend makes of what it sees of the links.
@Suite(.timeLimit(.minutes(1)))
struct CompletionReportingTests {
    /// Links of which the test says what they carry.
    private final class Links: KernelLinks, LinkWatch {
        private struct State {
            var central: DeviceAddress?
            var counters: LinkCounters?
            var isWatched: Bool
            var loop: EventLoop?
            var isBusy = true
            var packets = 0
        }

        private let state: Mutex<State>
        /// Used on the loop only.
        nonisolated(unsafe) private var handle: (([LinkObservation]) -> Void)?

        init(isWatched: Bool, counters: LinkCounters? = nil) {
            state = Mutex(State(counters: counters, isWatched: isWatched))
        }

        func links(of adapter: ObjectPath) -> [LinkState]? {
            state.withLock(\.central).map { [LinkState(address: $0, isEncrypted: false, connection: 0x40)] }
        }

        func counters(of adapter: ObjectPath) -> LinkCounters? { state.withLock(\.counters) }

        func watch(
            _ adapter: ObjectPath,
            on loop: EventLoop,
            _ handle: @escaping ([LinkObservation]) -> Void
        ) -> (any LinkWatch)? {
            guard state.withLock(\.isWatched) else { return nil }
            state.withLock { $0.loop = loop }
            unsafe self.handle = handle
            return self
        }

        func look() -> LinkActivity { LinkActivity(busy: state.withLock(\.isBusy) ? [0x40] : []) }

        func packetsInFlight(on connection: UInt16) -> Int { packetsInFlight }

        var packetsInFlight: Int { state.withLock(\.packets) }

        /// The controller has so many packets from now on, whenever updates have completed.
        func hold(_ packets: Int) { state.withLock { $0.packets = packets } }

        func close() { unsafe handle = nil }

        func connected(_ central: Central) {
            state.withLock { $0.central = DeviceAddress("\(central.id)") }
        }

        /// Nothing moves any more, although something may be missing.
        func rest() { state.withLock { $0.isBusy = false } }

        func see(_ observations: [LinkObservation]) {
            state.withLock(\.loop)?.execute { unsafe self.handle?(observations) }
        }

        /// The adapter sends values of 1 byte, each in a packet.
        func send(_ count: UInt32) {
            state.withLock { state in
                state.counters?.packetsSent += count
                state.counters?.bytesSent += count * 13
            }
        }
    }

    private static let value = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 0 } }

    /// Runs the body with a central that has subscribed, with as many updates in flight as allowed.
    private func run(
        _ links: Links,
        _ version: BlueZVersion,
        _ body: @escaping @Sendable (PeripheralSession, VirtualCentral, AttributeHandle) async throws -> Void
    ) async throws {
        let peripheral = Peripheral("Paced") { GATTService(.battery) { Self.value } }
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            let backend = BlueZBackend(
                bus: .address(bluez.busAddress),
                kernelLinks: links
            )
            try await peripheral.run(on: backend, logger: .silent) { session in
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await central.subscribe(to: Self.value)
                try await until { !session.subscriptions.isEmpty }
                links.connected(try #require(session.centrals.first))
                while try session.update(Self.value, 1) {}
                let counters = try #require(session.updateStatistics.first?.counters)
                #expect((counters.inFlight, counters.queued) == (16, 16))
                try await receive(16, by: central)
                try await body(session, central, central.locate(Self.value).valueHandle)
            }
        }
    }

    /// Waits until so many more have come: bluetoothd has been given them then.
    private func receive(_ count: Int, by central: VirtualCentral) async throws {
        for _ in 0..<count { _ = try await central.nextUpdate(of: Self.value) }
    }

    /// Waits until so many have left or are given up; on a machine that stands still for a while, the silence
    /// counts as well.
    private func untilSent(_ count: Int, in session: PeripheralSession) async throws {
        try await until {
            session.updateStatistics.first.map { $0.counters.sent + $0.counters.givenUp >= count } ?? false
        }
    }

    /// One central has the whole room of the controller, until another connects.
    @Test(arguments: [.v5_66, .v5_87] as [BlueZVersion])
    func theWindowFollowsTheLink(version: BlueZVersion) async throws {
        let links = Links(isWatched: true)
        try await run(links, version) { session, central, handle in
            func counters() -> UpdateCounters? { session.updateStatistics.first?.counters }
            let completed = LinkObservation.completed(attribute: handle, connection: 0x40)
            let other = central.makeAnother()
            try await other.connect()
            try await until { session.centrals.count == 2 }
            links.hold(1)
            links.see(Array(repeating: completed, count: 14))
            try await until { counters()?.sent == 14 }
            #expect(counters()?.inFlight == 2)
            links.hold(0)
            links.see([completed, completed])
            try await until { counters()?.sent == 16 }
            try await receive(2, by: central)
            links.see([completed, completed])
            try await until { counters()?.sent == 18 }
            #expect(counters()?.inFlight == 3)
            other.disconnect()
            try await until { counters()?.inFlight == 14 }
        }
    }

    @Test(arguments: [.v5_66, .v5_87] as [BlueZVersion])
    func whatIsSeenToLeaveMakesRoom(version: BlueZVersion) async throws {
        let links = Links(isWatched: true)
        try await run(links, version) { session, _, attribute in
            #expect(session.completionReporting == .observed)
            for sent in 1...3 {
                links.see([.completed(attribute: attribute, connection: 0x40)])
                try await untilSent(sent, in: session)
                #expect(try session.update(Self.value, 2))
                #expect(try !session.update(Self.value, 2))
            }
            links.see(Array(repeating: .completed(attribute: attribute, connection: 0x40), count: 8))
            try await session.readyToUpdate(Self.value)
        }
    }

    @Test func whatIsNoWhereToBeSeenMakesRoomAsWell() async throws {
        let links = Links(isWatched: true)
        try await run(links, .v5_87) { session, _, attribute in
            links.see([.missed, .completed(attribute: attribute, connection: 0x40)])
            links.rest()
            try await untilSent(32, in: session)
            #expect(session.updateStatistics.first?.counters.givenUp ?? 0 > 0)
        }
    }

    @Test(arguments: [.v5_66, .v5_87] as [BlueZVersion])
    func whatTheAdapterHasSentMakesRoom(version: BlueZVersion) async throws {
        let links = Links(isWatched: false, counters: LinkCounters(commandsSent: 40, bytesSent: 400))
        try await run(links, version) { session, central, _ in
            #expect(session.completionReporting == .estimated)
            links.send(5)
            try await untilSent(5, in: session)
            try await receive(5, by: central)
            links.send(16)
            try await untilSent(21, in: session)
            try await receive(11, by: central)
            links.send(11)
            try await untilSent(32, in: session)
        }
    }

    /// Without what the kernel says, or with a driver that counts nothing: at a pace, but for what has
    /// arrived for certain.
    @Test(arguments: [.v5_66, .v5_87] as [BlueZVersion], [nil, LinkCounters()])
    func whatACentralAsksForShowsWhatHasArrived(version: BlueZVersion, counters: LinkCounters?) async throws {
        let peripheral = Peripheral("Unobserved") { GATTService(.battery) { Self.value } }
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            let backend = BlueZBackend(
                fallbackRate: FallbackRate(interval: .seconds(600)),
                bus: .address(bluez.busAddress),
                kernelLinks: Links(isWatched: false, counters: counters)
            )
            try await peripheral.run(on: backend, logger: .silent) { session in
                #expect(session.completionReporting == .unknown)
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await central.subscribe(to: Self.value)
                try await until { !session.subscriptions.isEmpty }
                for _ in 0..<128 { try await session.notify(Self.value, 1) }
                while try session.update(Self.value, 2) {}
                let counters = try #require(session.updateStatistics.first?.counters)
                #expect((counters.inFlight, counters.queued, counters.sent) == (16, 16, 112))
                try await receive(128, by: central)
                while session.updateStatistics.first.map({ $0.counters.sent < 144 }) ?? false {
                    _ = try await central.read(Self.value)
                }
                try await receive(16, by: central)
            }
        }
    }
}
