import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

/// The number of updates that may be in flight to each central.
struct LinkWindowsTests {
    private let slow: Central.ID
    private let fast: Central.ID

    init() throws {
        slow = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        fast = Central.ID(address: try #require(DeviceAddress(rawValue: 2)))
    }

    /// The windows of two centrals, and what the host knows of them.
    private struct Model {
        var windows: LinkWindows
        var known: [Central.ID: Int] = [:]
        private var now = ContinuousClock.now

        init(_ centrals: [Central.ID], active: [Central.ID], room: Int = 8) {
            windows = LinkWindows(room: room)
            for central in centrals {
                windows.connected(central)
                report()
            }
            for central in active { begin(central) }
        }

        mutating func begin(_ central: Central.ID) {
            if windows.began(for: central) { report() }
        }

        mutating func report() {
            for (central, window) in windows.takeChanges() { known[central] = window }
        }

        /// Looks at the links for a time, once at least.
        mutating func look(
            active: Set<Central.ID>,
            moving: Set<Central.ID> = [],
            seconds: Int,
            every interval: Duration = .milliseconds(200)
        ) {
            let end = now + .seconds(seconds)
            repeat {
                windows.looked(active: active, moving: moving, at: now)
                report()
                now += interval
            } while now <= end
        }

        /// Completes updates in rounds, while the window is full, each with so many packets left.
        mutating func complete(
            rounds: Int = 100,
            of count: Int = 1,
            for central: Central.ID,
            remaining: Int,
            packets: Int = 4
        ) {
            for _ in 0..<rounds {
                let window = known[central] ?? 0
                windows.completed(count, for: central, of: window, remaining: remaining, among: packets)
                report()
            }
        }
    }

    @Test func oneCentralHasTheLargestWindow() {
        var model = Model([slow], active: [slow])
        #expect(model.known == [slow: 16])
        model.complete(for: slow, remaining: 8)
        model.look(active: [slow], seconds: 60)
        #expect(model.known == [slow: 16])
    }

    @Test func aWindowIsReportedOnceUntilItChanges() {
        var model = Model([slow], active: [])
        model.windows.connected(slow)
        #expect(model.windows.takeChanges().isEmpty)
    }

    /// Whatever the program sends first to an idle central, it does not fill the controller.
    @Test func severalCentralsBeginWithTheSmallestWindow() {
        #expect(Model([fast, slow], active: []).known == [fast: 2, slow: 2])
    }

    @Test func oneBusyCentralLeavesRoomForAResponseToAnother() {
        var model = Model([fast, slow], active: [fast])
        model.complete(for: fast, remaining: 0)
        #expect(model.known == [fast: 7, slow: 2])
    }

    @Test func aBusyLinkLeavesRoomForTwoPacketsOfAnother() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0)
        #expect(model.known == [fast: 5, slow: 2])
    }

    @Test func aBusyLinkGetsHalfTheRoomBesideMany() throws {
        let others = try (3...6).map { Central.ID(address: try #require(DeviceAddress(rawValue: $0))) }
        var model = Model([fast] + others, active: [fast] + others)
        model.complete(for: fast, remaining: 0)
        #expect(model.known[fast] == 4)
    }

    @Test func aLinkWithPacketsLeftGetsASmallerWindow() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0)
        model.complete(for: fast, remaining: 2)
        #expect(model.known[fast] == 2)
    }

    @Test func oneUsefulPacketKeepsTheWindow() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0)
        model.complete(for: fast, remaining: 1)
        #expect(model.known[fast] == 5)
    }

    @Test func aStalledLinkGetsTheSmallestWindow() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0)
        model.look(active: [fast, slow], seconds: 4)
        #expect(model.known[fast] == 5)
        model.look(active: [fast, slow], seconds: 1)
        #expect(model.known[fast] == 2)
        // The window grows again when the link carries packets. A link of 40 ms for a packet carries 18
        // updates in less than a second.
        model.complete(rounds: 18, for: fast, remaining: 0)
        #expect(model.known[fast] == 5)
    }

    /// The looks follow sooner after missed frames.
    @Test func aLinkThatMovesDoesNotStall() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0)
        for _ in 0..<5 {
            model.look(active: [fast, slow], seconds: 3, every: .milliseconds(25))
            model.look(active: [fast, slow], moving: [fast], seconds: 0)
        }
        #expect(model.known[fast] == 5)
    }

    @Test func aLinkThatRestsDoesNotStall() {
        var model = Model([fast, slow], active: [fast])
        model.complete(for: fast, remaining: 0)
        for _ in 0..<10 {
            model.look(active: [fast], seconds: 3)
            model.windows.rested()
            model.begin(fast)
        }
        #expect(model.known[fast] == 7)
    }

    @Test func aWindowThatIsNotUsedDoesNotGrow() {
        var model = Model([fast, slow], active: [fast, slow])
        for _ in 0..<100 { model.windows.completed(1, for: fast, of: 1, remaining: 0, among: 1) }
        #expect(model.windows.takeChanges().isEmpty)
    }

    @Test func aWindowDoesNotGrowWhileTheControllerIsFull() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0, packets: 8)
        #expect(model.known[fast] == 2)
        // The controller has more room than was known.
        model.complete(rounds: 1, for: fast, remaining: 1, packets: 12)
        model.complete(for: fast, remaining: 0, packets: 11)
        #expect(model.known[fast] == 5)
    }

    @Test func rarelyEmptyLinksKeepTheWindow() {
        var model = Model([fast, slow], active: [fast, slow])
        for _ in 0..<20 {
            model.complete(rounds: 1, for: fast, remaining: 0)
            model.complete(rounds: 3, for: fast, remaining: 1)
        }
        #expect(model.known[fast] == 2)
    }

    /// A controller that reports all packets of a connection event together leaves the link empty each time.
    @Test func burstsThatLeaveNothingEnlargeTheWindow() {
        var model = Model([fast, slow], active: [fast, slow])
        for _ in 0..<100 {
            model.complete(rounds: 1, of: model.known[fast] ?? 0, for: fast, remaining: 0)
        }
        #expect(model.known[fast] == 5)
    }

    @Test func moreBusyLinksMakeLargeWindowsSmaller() {
        var model = Model([fast, slow], active: [fast])
        model.complete(for: fast, remaining: 0)
        #expect(model.known[fast] == 7)
        model.begin(slow)
        #expect(model.known[fast] == 5)
    }

    @Test func aLinkThatNoLongerSendsFreesItsRoom() {
        var model = Model([fast, slow], active: [fast, slow])
        model.complete(for: fast, remaining: 0)
        model.look(active: [fast], seconds: 0)
        model.complete(for: fast, remaining: 0)
        #expect(model.known[fast] == 5)
        model.look(active: [fast], seconds: 0)
        model.complete(for: fast, remaining: 0)
        #expect(model.known[fast] == 7)
    }

    @Test func theLastCentralHasTheLargestWindowAgain() {
        var model = Model([fast, slow], active: [fast, slow])
        model.windows.disconnected(slow)
        model.report()
        #expect(model.known[fast] == 16)
    }

    @Test(arguments: [0, 1, 2, 3]) func aSmallControllerLeavesEachLinkTwo(room: Int) {
        var model = Model([fast, slow], active: [fast, slow], room: room)
        model.complete(for: fast, remaining: 0, packets: 0)
        #expect(model.known == [fast: 2, slow: 2])
    }

    @Test func unknownCentralsChangeNothing() {
        var model = Model([fast], active: [fast])
        model.windows.completed(100, for: slow, of: 16, remaining: 0, among: 0)
        model.windows.disconnected(slow)
        let isNew = model.windows.began(for: slow)
        #expect(!isNew)
        #expect(model.windows.takeChanges().isEmpty)
    }
}
