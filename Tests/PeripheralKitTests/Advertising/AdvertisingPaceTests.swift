import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct AdvertisingPaceTests {
    private static let advertisements = [
        Advertisement(localName: "A", slowing: .after(.seconds(30))),
        Advertisement(localName: "B"),
        Advertisement(localName: "C", slowing: .after(.seconds(60), to: .every(.seconds(2)))),
    ]

    private static func intervals(_ pace: inout AdvertisingPace, at second: Int) -> [AdvertisingInterval?] {
        pace.pace(advertisements, at: .seconds(second)).map(\.interval)
    }

    @Test func eachSlowsDownAtItsTime() {
        var pace = AdvertisingPace()
        #expect(pace.next(of: Self.advertisements) == nil)
        pace.restart(at: .seconds(100))
        #expect(pace.next(of: Self.advertisements) == .seconds(100))
        #expect(Self.intervals(&pace, at: 100) == [nil, nil, nil])
        #expect(pace.next(of: Self.advertisements) == .seconds(130))
        #expect(Self.intervals(&pace, at: 130) == [.slow, nil, nil])
        #expect(pace.next(of: Self.advertisements) == .seconds(160))
        #expect(Self.intervals(&pace, at: 161) == [.slow, nil, .every(.seconds(2))])
        #expect(pace.next(of: Self.advertisements) == nil)
    }

    @Test func aSlowAdvertisementHasNoFurtherSlowdown() {
        var pace = AdvertisingPace()
        pace.restart(at: .zero)
        #expect(
            pace.pace(Self.advertisements, at: .seconds(30)).map { $0.slowing?.time } == [
                nil, nil, .seconds(60),
            ]
        )
    }

    @Test func aRestartMakesAllFastAgain() {
        var pace = AdvertisingPace()
        pace.restartIfStarted(at: .seconds(1))
        #expect(pace.next(of: Self.advertisements) == nil)
        pace.restart(at: .zero)
        #expect(Self.intervals(&pace, at: 70) == [.slow, nil, .every(.seconds(2))])
        pace.restartIfStarted(at: .seconds(80))
        #expect(pace.next(of: Self.advertisements) == .seconds(80))
        #expect(Self.intervals(&pace, at: 80) == [nil, nil, nil])
        #expect(pace.next(of: Self.advertisements) == .seconds(110))
    }

    /// Otherwise the task that slows down would not wait, and keep a thread busy.
    @Test func nothingIsDueAfterTheEnd() async throws {
        let link = RecordingLink()
        let control = AdvertisingControl(
            of: Peripheral("Lamp") { Advertisement(slowing: .after(.seconds(30))) },
            clock: ManualClock(),
            logger: .silent
        ) { _ in }
        control.begin(link)
        control.stop()
        control.centralDisconnected()
        #expect(control.nextSlowdown == nil)
    }

    /// The demands that reach the backend, by a clock that the test sets.
    @Test func theBackendReceivesEachChangeOnce() async throws {
        let (link, clock) = (RecordingLink(), ManualClock())
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: link)))
            try await until { link.demands.withLock(\.count) == 1 }
            let central = Central(address: .numbered(1))
            host.handle(.connected(central))
            host.handle(.disconnected(central.id))
            await link.untilStopped()
        }
        let peripheral = Peripheral("Lamp") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(slowing: .after(.seconds(30)))
        }
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { session in
            for count in 1...3 {
                try await until {
                    // The disconnection follows the first demand by itself.
                    if count != 2 { clock.advance(by: .seconds(1)) }
                    return link.demands.withLock(\.count) == count
                }
            }
            let demands = link.demands.withLock(\.self)
            #expect(demands.map { $0.advertisements.map(\.interval) } == [[.slow], [nil], [.slow]])
            #expect(demands.allSatisfy { $0.restarted.isEmpty })
            #expect(session.advertisements == [Advertisement(slowing: .after(.seconds(30)))])
        }
    }
}
