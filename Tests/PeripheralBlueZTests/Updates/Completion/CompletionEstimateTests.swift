import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct CompletionEstimateTests {
    private static let start = ContinuousClock.now

    private var estimate = CompletionEstimate(LinkCounters(), room: 8, at: start)
    private var counters = LinkCounters()
    private var now = start
    private var next: UInt64 = 0
    private let one: Central.ID
    private let two: Central.ID

    init() throws {
        one = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        two = Central.ID(address: try #require(DeviceAddress(rawValue: 2)))
    }

    private mutating func give(_ count: Int = 1, size: Int = 20, to central: Central.ID? = nil) {
        for _ in 0..<count {
            let delivery = CompletionEstimate.Delivery(
                update: BackendUpdate.ID(next),
                attribute: 3,
                central: central ?? one
            )
            estimate.given(delivery, size: size, at: now)
            next += 1
        }
    }

    /// The adapter sends a value, in packets of at most so many bytes.
    private mutating func send(_ count: Int = 1, size: Int = 20, packetSize: Int = 251) {
        for _ in 0..<count {
            let packets = (size + 7 + packetSize - 1) / packetSize
            counters.packetsSent += UInt32(packets)
            counters.bytesSent += UInt32(size + 7 + 5 * packets)
        }
    }

    /// How many count as having left.
    private mutating func completed(after milliseconds: Int = 1) -> Int {
        now += .milliseconds(milliseconds)
        return estimate.sent(counters, at: now).count
    }

    @Test mutating func asManyHaveLeftAsWereSent() {
        give(3)
        #expect(completed() == 0)
        send(2)
        #expect(completed() == 2)
        #expect(!estimate.isEmpty)
        send()
        #expect(completed() == 1)
        #expect(estimate.isEmpty)
    }

    @Test mutating func theyLeaveInTheirOrder() {
        give(to: one)
        give(to: two)
        send()
        #expect(estimate.sent(counters, at: now).map(\.central) == [one])
        #expect(estimate.settled(two).isEmpty)
        #expect(estimate.isEmpty)
    }

    @Test mutating func oneThatWasNotGivenAfterAllIsNotWaitedFor() {
        give(2)
        estimate.withdraw(BackendUpdate.ID(0))
        send()
        #expect(estimate.sent(counters, at: now).map(\.update) == [BackendUpdate.ID(1)])
        #expect(estimate.isEmpty)
    }

    @Test(arguments: [27, 60, 251])
    mutating func aLongValueHasLeftWithItsLastPacket(packetSize: Int) {
        give(5, size: 244)
        send(4, size: 244, packetSize: packetSize)
        #expect(completed() == 4)
        send(1, size: 244, packetSize: packetSize)
        #expect(completed() == 1)
    }

    /// Each request is responded to, by a packet of its own.
    @Test mutating func responsesDoNotCount() {
        give(2)
        for _ in 0..<50 {
            counters.packetsReceived += 1
            send(size: 200)
            #expect(completed() == 0)
        }
        send(2)
        #expect(completed() == 2)
    }

    /// What a central sends in a millisecond that uploads, in packets, and how many responses that has.
    enum Upload: CaseIterable {
        case commands, longRequests

        var packets: UInt32 { self == .commands ? 1 : 3 }
        var responses: Int { self == .commands ? 0 : 1 }
    }

    private mutating func receive(_ upload: Upload) {
        counters.packetsReceived += upload.packets
        for _ in 0..<upload.responses {
            estimate.asked()
            counters.packetsSent += 1
            counters.bytesSent += 10
        }
    }

    /// As many leave as are sent, few and many.
    @Test(arguments: Upload.allCases, [2, 16])
    mutating func whoUploadsHoldsUpNothing(upload: Upload, window: Int) {
        var missing = 0
        var left = 0
        for _ in 0..<5_000 {
            let room = window - missing
            give(room)
            receive(upload)
            send(room)
            let leaving = self.completed()
            missing += room - leaving
            left += leaving
        }
        // Sometimes the estimate detects an upload only after a few packets.
        #expect(left > 4_900 * window)
    }

    /// A central that asks all the time does not hide that something is not sent.
    @Test mutating func whatIsNotSentCountsAsHavingLeftAfterASilenceOfUpdates() {
        give()
        var left = 0
        for _ in 0..<200 where left == 0 {
            counters.packetsReceived += 1
            estimate.asked()
            left += self.completed(after: 2)
            counters.packetsSent += 1
            counters.bytesSent += 50
            left += self.completed(after: 2)
        }
        #expect(left == 1)
    }

    /// bluetoothd answers by itself when it is discovered, which lets nothing more leave.
    @Test mutating func whatIsAnsweredByBluetoothdDoesNotCount() {
        give(16)
        for _ in 0..<40 {
            counters.packetsReceived += 1
            #expect(completed() == 0)
            counters.packetsSent += 1
            counters.bytesSent += 50
            #expect(completed() == 0)
        }
        send()
        #expect(completed() == 1)
    }

    @Test mutating func commandsDoNotCount() {
        give(1)
        counters.commandsSent += 10
        counters.bytesSent += 40
        #expect(completed() == 0)
    }

    @Test mutating func whatWasSentWhileNothingWasMissingDoesNotCount() {
        send(100)
        _ = completed()
        give(1)
        #expect(completed() == 0)
    }

    @Test mutating func theNumbersMayStartAgain() {
        send(10)
        _ = completed()
        give(2)
        counters = LinkCounters()
        #expect(completed() == 0)
        send(2)
        #expect(completed() == 2)
    }

    /// bluetoothd has not sent the values, because no central had subscribed.
    @Test mutating func whatIsNotSentCountsAsHavingLeftAfterASilence() {
        give(16)
        #expect(completed(after: 199) == 0)
        #expect(completed() == 16)
    }

    @Test mutating func aSlowLinkIsWaitedFor() {
        for _ in 0..<5 {
            give(2)
            for _ in 0..<2 {
                send()
                #expect(completed(after: 150) == 1)
            }
        }
        give(2)
        #expect(completed(after: 500) == 0)
        #expect(completed(after: 100) == 2)
    }

    /// On a link on which nothing comes through, little more than is missing anyway is under way when it is
    /// lost.
    @Test mutating func aLinkThatIsSilentIsGivenLessAndLess() {
        var given = 0
        for _ in 0..<6_400 {
            while estimate.isEmpty {
                give(16)
                given += 16
            }
            _ = completed(after: 5)
        }
        // Longer than the longest time-out of a link (Core Specification, Vol 4, Part E, 7.8.12).
        #expect(now - Self.start == .seconds(32))
        #expect(given == 8 * 16)
    }

    /// When the link is there again, what was given meanwhile is sent first.
    @Test mutating func whatSurvivedASilenceIsStillUnderWay() {
        give(16)
        #expect(completed(after: 300) == 16)
        give(16)
        #expect(completed(after: 500) == 16)
        give(16)
        for _ in 0..<32 {
            send()
            #expect(completed() == 0)
        }
        send(3)
        #expect(completed() == 3)
    }

    @Test mutating func whatSeveralSilencesHaveLeftIsNotOwedForEver() {
        for milliseconds in [300, 500, 900] {
            give(16)
            #expect(completed(after: milliseconds) == 16)
        }
        for _ in 0..<3 {
            give(16)
            send(16)
            #expect(completed() == 0)
            #expect(completed(after: 300) == 16)
        }
        give(4)
        send(4)
        #expect(completed() == 4)
    }

    @Test mutating func whatDidNotSurviveASilenceIsNotOwedForEver() {
        give(16)
        #expect(completed(after: 300) == 16)
        give(16)
        send(16)
        #expect(completed() == 0)
        #expect(completed(after: 300) == 16)
        give(4)
        send(4)
        #expect(completed() == 4)
    }

    /// A link that is cut and comes back, other traffic, values of all sizes: whatever happens, the bound is
    /// kept.
    @Test(arguments: 0..<200 as Range<UInt64>)
    mutating func noMoreIsUnderWayThanPromised(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let packetSize = [27, 60, 251][Int(seed % 3)]
        let window = 16 * Int(1 + seed % 4)
        let pace = Int.random(in: 1...8, using: &random)
        var (given, underWay, sizes): (Int, Int, [Int]) = (0, 0, [])
        var silence = 0
        for _ in 0..<5_000 {
            while given < window {
                let size = Int.random(in: 1...244, using: &random)
                give(size: size)
                sizes.append(size)
                (given, underWay) = (given + 1, underWay + 1)
            }
            // Not before what the last one has left is sent.
            if silence == 0, underWay == given, Int.random(in: 0..<200, using: &random) == 0 {
                silence = Int.random(in: 1...200, using: &random)
            }
            if silence > 0 {
                silence -= 1
            } else {
                for _ in 0..<min(pace, sizes.count) {
                    send(size: sizes.removeFirst(), packetSize: packetSize)
                    underWay -= 1
                }
            }
            given -= completed(after: 10)
            #expect(underWay <= 4 * window, "seed \(seed)")
        }
    }
}
