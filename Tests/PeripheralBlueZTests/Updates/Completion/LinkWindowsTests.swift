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

    /// Returns the windows of a controller with room for eight packets, with centrals that receive updates.
    private func windows(_ centrals: [Central.ID], isActive: Bool = true) -> LinkWindows {
        var windows = LinkWindows(room: 8)
        for central in centrals {
            windows.connected(central)
            if isActive { _ = windows.began(for: central) }
        }
        return windows
    }

    /// Returns the last window of each central that has changed.
    private func changes(_ windows: inout LinkWindows) -> [Central.ID: Int] {
        Dictionary(windows.takeChanges().map { ($0.central, $0.window) }) { $1 }
    }

    /// Completes updates one by one, each with the same number of packets left, and returns the window.
    private func complete(
        _ count: Int,
        for central: Central.ID,
        remaining: Int,
        packets: Int = 4,
        from window: Int,
        _ windows: inout LinkWindows
    ) -> Int {
        var window = window
        for _ in 0..<count {
            windows.observed(packets: packets)
            windows.completed(1, for: central, of: window, remaining: remaining)
            window = changes(&windows)[central] ?? window
        }
        return window
    }

    @Test func oneCentralHasTheLargestWindow() {
        var windows = windows([slow])
        #expect(changes(&windows) == [slow: 16])
        #expect(complete(100, for: slow, remaining: 8, from: 16, &windows) == 16)
    }

    @Test func aWindowIsReportedOnceUntilItChanges() {
        var windows = windows([slow])
        _ = changes(&windows)
        #expect(changes(&windows).isEmpty)
        windows.connected(slow)
        #expect(changes(&windows).isEmpty)
    }

    @Test func oneBusyCentralLeavesRoomForAResponseToAnother() {
        var windows = windows([fast, slow], isActive: false)
        _ = windows.began(for: fast)
        var window = changes(&windows)[fast] ?? 0
        window = complete(100, for: fast, remaining: 0, from: window, &windows)
        #expect(window == 7)
    }

    @Test func aLinkWithPacketsLeftGetsTheSmallestWindow() {
        var windows = windows([fast, slow])
        #expect(changes(&windows) == [fast: 4, slow: 4])
        #expect(complete(100, for: slow, remaining: 3, from: 4, &windows) == 2)
    }

    @Test func oneUsefulPacketKeepsTheWindow() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        #expect(complete(100, for: slow, remaining: 1, from: 4, &windows) == 4)
    }

    @Test func aLinkWithoutPacketsGetsTheRoomThatOthersDoNotNeed() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        #expect(complete(100, for: fast, remaining: 0, from: 4, &windows) == 6)
    }

    @Test func aWindowThatIsNotUsedDoesNotGrow() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        for _ in 0..<100 {
            windows.observed(packets: 1)
            windows.completed(1, for: fast, of: 3, remaining: 0)
        }
        #expect(changes(&windows).isEmpty)
    }

    @Test func aWindowDoesNotGrowWhileTheControllerIsFull() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        #expect(complete(100, for: fast, remaining: 0, packets: 8, from: 4, &windows) == 4)
    }

    @Test func rareStarvationDoesNotEnlargeTheWindow() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        for _ in 0..<20 {
            windows.observed(packets: 4)
            windows.completed(1, for: fast, of: 4, remaining: 0)
            windows.completed(7, for: fast, of: 4, remaining: 1)
        }
        #expect(changes(&windows).isEmpty)
    }

    @Test func moreBusyLinksMakeLargeWindowsSmaller() {
        var windows = windows([fast, slow], isActive: false)
        _ = windows.began(for: fast)
        _ = changes(&windows)
        let window = complete(100, for: fast, remaining: 0, from: 4, &windows)
        #expect(window == 7)
        let isNew = [windows.began(for: slow), windows.began(for: slow)]
        #expect(isNew == [true, false])
        #expect(changes(&windows) == [fast: 6])
    }

    @Test func aLinkThatNoLongerSendsFreesItsRoom() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        #expect(complete(100, for: fast, remaining: 0, from: 4, &windows) == 6)
        windows.looked(active: [fast])
        #expect(complete(100, for: fast, remaining: 0, from: 6, &windows) == 6)
        windows.looked(active: [fast])
        #expect(complete(100, for: fast, remaining: 0, from: 6, &windows) == 7)
    }

    @Test func theLastCentralHasTheLargestWindowAgain() {
        var windows = windows([fast, slow])
        _ = changes(&windows)
        windows.disconnected(slow)
        #expect(changes(&windows) == [fast: 16])
    }

    @Test func moreObservedPacketsCorrectTheKnownRoom() {
        var windows = windows([fast, slow])
        windows.observed(packets: 20)
        _ = changes(&windows)
        #expect(complete(1_000, for: fast, remaining: 0, from: 4, &windows) == 16)
    }

    @Test(arguments: [0, 1, 2, 3]) func aSmallControllerLeavesEachLinkTwo(room: Int) {
        var windows = LinkWindows(room: room)
        for central in [fast, slow] {
            windows.connected(central)
            _ = windows.began(for: central)
        }
        #expect(changes(&windows) == [fast: 2, slow: 2])
    }

    @Test func unknownCentralsChangeNothing() {
        var windows = windows([fast])
        _ = changes(&windows)
        windows.completed(100, for: slow, of: 16, remaining: 0)
        windows.disconnected(slow)
        let isNew = windows.began(for: slow)
        #expect(!isNew)
        #expect(changes(&windows).isEmpty)
    }
}
