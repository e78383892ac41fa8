import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

/// Values of which only the newest counts, on links whose packets the counters show when the controller
/// receives them.
struct ControllerBuffersTests {
    /// A value is new at each millisecond, and at most two values are in flight.
    private struct NewestValues {
        private static let start = ContinuousClock.now
        var links: SimulatedLinks
        /// How many values may be in flight.
        var window = 2
        private var estimate: CompletionEstimate
        private let central: Central.ID
        private var open = 0
        private var next: UInt64 = 0
        /// The times at which the values in flight were new.
        private var given: [Int] = []
        /// How old each value was when it arrived, in milliseconds.
        private(set) var ages: [Int] = []

        init(packetTime: Int, room: Int = 8, reportedRoom: Int = 8) throws {
            links = SimulatedLinks(periods: [packetTime])
            links.buffers = room
            links.mostOfOneLink = room
            estimate = CompletionEstimate(LinkCounters(), room: reportedRoom, at: Self.start)
            central = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        }

        var isEmpty: Bool { estimate.isEmpty && open == 0 }

        /// - Parameters:
        ///   - milliseconds: The duration.
        ///   - interval: The milliseconds between two new values.
        ///   - isSending: Whether there are new values.
        mutating func run(_ milliseconds: Int, interval: Int = 1, isSending: Bool = true) {
            for _ in 0..<milliseconds { step(isSending && links.time.isMultiple(of: interval), interval) }
        }

        /// A request whose response never comes, so that the next packet is mistaken for the response.
        mutating func request() { estimate.asked() }

        /// bluetoothd answers a request of the central.
        mutating func discover() {
            links.request()
            links.respond(on: 0)
        }

        /// The central disconnects, and one with another link connects.
        mutating func reconnect(packetTime: Int) {
            links.disconnect(0)
            links.links[0].period = packetTime
            given = []
            _ = estimate.settled(central)
            open = 0
        }

        private mutating func step(_ isSending: Bool, _ interval: Int) {
            while isSending, open < window {
                give()
                if interval > 1 { break }
            }
            links.step()
            for case .completed(_, let packet) in links.events where packet.isUpdate {
                ages.append(links.time - given.removeFirst())
            }
            // The counters are not read while nothing is in flight.
            guard links.time.isMultiple(of: 4), !estimate.isEmpty else { return }
            open -= estimate.sent(links.counters, at: now).count
        }

        private mutating func give() {
            if estimate.isHostEmpty { open -= estimate.sent(links.counters, at: now).count }
            let delivery = CompletionEstimate.Delivery(
                update: BackendUpdate.ID(next),
                attribute: 3,
                central: central
            )
            estimate.given(delivery, size: 20, at: now)
            links.give(20, to: 0)
            given.append(links.time)
            (open, next) = (open + 1, next + 1)
        }

        private var now: ContinuousClock.Instant { Self.start + .milliseconds(links.time) }

        /// The median of the ages since the value at a place.
        func medianAge(since first: Int) -> Int {
            let ages = ages.dropFirst(first).sorted()
            return ages[ages.count / 2]
        }
    }

    @Test(arguments: [10, 20, 30, 50, 90]) func aNewValueDoesNotWaitBehindFullBuffers(packetTime: Int) throws
    {
        var values = try NewestValues(packetTime: packetTime)
        values.run(60_000)
        #expect(values.medianAge(since: 0) <= packetTime * 5 / 2)
        // The link is in use most of the time.
        #expect(values.ages.count * packetTime >= 60_000 * 3 / 4)
        values.run(2_000, isSending: false)
        #expect(values.isEmpty)
    }

    /// A link whose buffers delay a value only a little carries as much as before.
    @Test(arguments: [1, 4]) func aFastLinkKeepsItsRate(packetTime: Int) throws {
        var values = try NewestValues(packetTime: packetTime)
        values.run(20_000)
        #expect(values.ages.count * max(packetTime, 2) >= 20_000 * 9 / 10)
        #expect(values.medianAge(since: 0) <= 9 * packetTime + 4)
    }

    @Test func aLinkThatBecomesSlowerIsMeasuredAgain() throws {
        var values = try NewestValues(packetTime: 10)
        values.run(10_000)
        let before = values.ages.count
        values.links.links[0].period = 40
        values.run(60_000)
        #expect(values.medianAge(since: before) <= 100)
    }

    @Test func aLinkThatBecomesFasterIsMeasuredAgain() throws {
        var values = try NewestValues(packetTime: 40)
        values.run(10_000)
        values.links.links[0].period = 4
        values.run(15_000)
        let before = values.ages.count
        values.run(10_000)
        #expect(values.ages.count - before >= 10_000 / 4 * 8 / 10)
    }

    @Test func theTimeOfALinkThatHasEndedDoesNotApplyToTheNext() throws {
        var values = try NewestValues(packetTime: 50)
        values.run(10_000)
        values.reconnect(packetTime: 4)
        let before = values.ages.count
        values.run(2_000)
        #expect(values.ages.count - before >= 2_000 / 4 * 8 / 10)
    }

    /// Values wait in the host when the central disconnects, and the next one discovers for a while.
    @Test func aMeasurementEndsWithItsLink() throws {
        var values = try NewestValues(packetTime: 20)
        values.window = 16
        values.run(2_000)
        values.reconnect(packetTime: 4)
        for _ in 0..<20 {
            values.discover()
            values.run(250, isSending: false)
        }
        values.window = 2
        let before = values.ages.count
        values.run(10_000)
        #expect(values.ages.count - before >= 10_000 / 4 * 8 / 10)
    }

    @Test func aPauseIsNoPartOfTheTimeForAPacket() throws {
        var values = try NewestValues(packetTime: 20)
        values.run(100)
        values.links.links[0].stalledUntil = values.links.time + 180
        values.run(15_000)
        #expect(values.ages.count * 20 >= 15_000 * 7 / 10)
    }

    /// However many buffers there are, and however slow the link was, a value follows within a second.
    @Test func theDelayIsBounded() throws {
        var values = try NewestValues(packetTime: 90, room: 32, reportedRoom: 32)
        values.run(5_000)
        values.links.links[0].period = 1
        values.run(100)
        let before = values.ages.count
        values.run(1_000)
        #expect(values.ages.count > before)
    }

    /// A link that carries nothing for 20 s does not hold back the values that follow for long.
    @Test func aSilenceIsNotTakenForATimeForAPacket() throws {
        var values = try NewestValues(packetTime: 20)
        values.run(10_000)
        values.links.links[0].stalledUntil = values.links.time + 20_000
        values.run(20_000)
        let before = values.ages.count
        values.run(20_000)
        #expect((values.ages.count - before) * 20 >= 20_000 / 2)
    }

    @Test(arguments: [1, 4]) func aPacketTakenForAResponseDelaysNothing(packetTime: Int) throws {
        var values = try NewestValues(packetTime: packetTime)
        values.request()
        values.run(10_000, interval: 20)
        #expect(values.ages.count >= 10_000 / 20 - 10)
    }

    @Test func aWithdrawnUpdateLeavesTheBuffers() throws {
        let central = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        var now = ContinuousClock.now
        var buffers = ControllerBuffers(room: 8, at: now)
        for number: UInt64 in 0..<10 {
            now += .milliseconds(20)
            let update = BackendUpdate.ID(number)
            let delivery = CompletionEstimate.Delivery(update: update, attribute: 3, central: central)
            _ = buffers.passed([delivery], packets: 1, waiting: (3, 2), at: now)
        }
        #expect(!buffers.isEmpty)
        for number: UInt64 in 0..<10 { buffers.withdraw(BackendUpdate.ID(number)) }
        #expect(buffers.isEmpty)
    }

    /// The controller has another number of buffers than the kernel reports.
    @Test(arguments: [4, 8, 16]) func theNumberOfBuffersMayBeUnknown(room: Int) throws {
        var values = try NewestValues(packetTime: 20, room: room)
        values.run(60_000)
        #expect(values.medianAge(since: 0) <= max(60, (room - 8) * 20 + 60))
        #expect(values.ages.count * 20 >= 60_000 / 2)
    }
}
