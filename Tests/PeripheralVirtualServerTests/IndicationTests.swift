import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization
import Testing

/// Indications, which wait for one another and for their confirmation, and updates for some centrals.
@Suite(.timeLimit(.minutes(1)))
struct IndicationTests {
    private static let characteristic: AttributeHandle = 0x0017

    private static func subscribedCentral(on fixture: ServerFixture, to kind: UpdateKind) async throws
        -> VirtualCentral
    {
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.subscribe(characteristic, to: kind)
        return central
    }

    @Test func oneIsOutstandingAtATime() async throws {
        let fixture = try ServerFixture(.indicate)
        let link = RecordingLink(confirmsIndications: false)
        let connection = try fixture.connect(over: link)
        _ = try await fixture.server.write(0x0018, [2, 0], on: connection)
        _ = fixture.provider.takeLog()
        for number: UInt8 in 1...3 { fixture.server.send([number], of: 0x0003, in: fixture.application) }
        #expect(link.lines == ["indication 0x0017: [1]"])
        #expect(fixture.provider.takeLog() == [])
        fixture.server.confirmIndication(on: connection)
        #expect(link.lines == ["indication 0x0017: [1]", "indication 0x0017: [2]"])
        #expect(fixture.provider.takeLog() == ["confirm 0x0003"])
    }

    @Test func aCentralConfirmsWhenItWants() async throws {
        let fixture = try ServerFixture([.indicate, .notify])
        let central = try await Self.subscribedCentral(on: fixture, to: .indication)
        central.confirmsIndications = false
        let address = central.address
        async let first = fixture.server.send([1], of: 0x0003, in: fixture.application, to: address)
        #expect(try await central.nextUpdate(of: Self.characteristic).value == [1])
        central.confirmIndication()
        #expect(await first == .confirmed)
        async let second = fixture.server.send([2], of: 0x0003, in: fixture.application, to: address)
        #expect(try await central.nextUpdate(of: Self.characteristic).value == [2])
        central.confirmsIndications = true
        #expect(await second == .confirmed)
    }

    @Test func whoDoesNotConfirmIsDisconnected() async throws {
        let clock = ManualClock()
        let fixture = try ServerFixture(.indicate, clock: clock)
        let central = try await Self.subscribedCentral(on: fixture, to: .indication)
        central.confirmsIndications = false
        let address = central.address
        let outcomes = Mutex<[VirtualUpdateOutcome]>([])
        for number: UInt8 in 1...2 {
            fixture.server.deliver(
                [number],
                of: 0x0003,
                in: fixture.application,
                to: { $0.central.address == address },
                completion: { _, outcome in outcomes.withLock { $0.append(outcome) } }
            )
        }
        await clock.waitForSleeper()
        clock.advance(by: .seconds(30))
        _ = try await central.nextUpdate(of: Self.characteristic)
        await #expect(throws: TestCentralError.self) {
            try await central.nextUpdate(of: Self.characteristic)
        }
        #expect(fixture.server.centrals.isEmpty)
        #expect(outcomes.withLock(\.self) == [.timedOut, .disconnected])
    }

    @Test func anUpdateIsForOneCentral() async throws {
        let fixture = try ServerFixture([.indicate, .notify])
        let notified = try await Self.subscribedCentral(on: fixture, to: .notification)
        let indicated = try await Self.subscribedCentral(on: fixture, to: .indication)
        let stranger = fixture.makeCentral()
        try await stranger.connect()
        let server = fixture.server
        let application = fixture.application
        #expect(await server.send([1], of: 0x0003, in: application, to: notified.address) == .sent)
        #expect(await server.send([2], of: 0x0003, in: application, to: indicated.address) == .confirmed)
        #expect(await server.send([3], of: 0x0003, in: application, to: stranger.address) == nil)
        server.send([4], of: 0x0003, in: application)
        #expect(try await notified.nextUpdate(of: Self.characteristic).value == [1])
        #expect(try await indicated.nextUpdate(of: Self.characteristic).value == [2])
        for central in [notified, indicated] {
            #expect(try await central.nextUpdate(of: Self.characteristic).value == [4])
        }
        let recipients = server.deliver([5], of: 0x0003, in: application, to: { $0.kind == .indication })
        #expect(recipients?.map(\.address) == [indicated.address])
    }
}
