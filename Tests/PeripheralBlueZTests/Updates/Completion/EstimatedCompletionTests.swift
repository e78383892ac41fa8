import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// Several links of which only the sum of what they carry is known.
// Many seconds are simulated, and the thread sanitizer takes ten times as long for each.
@Suite(.timeLimit(.minutes(5)))
struct EstimatedCompletionTests {
    private static let start = ContinuousClock.now
    private var links = SimulatedLinks(periods: [])
    private var estimate = CompletionEstimate(LinkCounters(), room: 8, at: start)
    private var open: [Int] = []
    private var most: [Int] = []
    private var centrals: [Central.ID] = []
    private var next: UInt64 = 0
    private var gone: Set<Int> = []
    /// Whether each update is for all centrals, as before 5.69, where bluetoothd reaches them only together.
    private var isShared = false
    /// The centrals of each update that it is not completed for, if updates are for all centrals.
    private var missing: [BackendUpdate.ID: Set<Int>] = [:]

    private mutating func begin(_ periods: [Int]) throws {
        links = SimulatedLinks(periods: periods)
        (open, most) = (periods.map { _ in 0 }, periods.map { _ in 0 })
        centrals = try periods.indices.map {
            Central.ID(address: try #require(DeviceAddress(rawValue: UInt64($0 + 1))))
        }
    }

    private mutating func step(isSending: Bool = true) {
        let now = Self.start + .milliseconds(links.time)
        while isShared, isSending, missing.count < 16 {
            let subscribers = Set(open.indices).subtracting(gone)
            for number in subscribers.sorted() { give(to: number, at: now) }
            missing[BackendUpdate.ID(next)] = subscribers
            next += 1
        }
        for number in open.indices where !gone.contains(number) {
            while !isShared, isSending, open[number] < 16 {
                give(to: number, at: now)
                next += 1
            }
            most[number] = max(most[number], links.links[number].underWay)
        }
        links.step()
        guard links.time % 4 == 0 else { return }
        completed(estimate.sent(links.counters, at: Self.start + .milliseconds(links.time)))
    }

    private mutating func give(to number: Int, at time: ContinuousClock.Instant) {
        let delivery = CompletionEstimate.Delivery(
            update: BackendUpdate.ID(next),
            attribute: 3,
            central: centrals[number]
        )
        open[number] += 1
        estimate.given(delivery, size: 20, at: time)
        links.give(20, to: number)
    }

    private mutating func completed(_ deliveries: [CompletionEstimate.Delivery]) {
        for delivery in deliveries {
            guard let number = centrals.firstIndex(of: delivery.central) else { continue }
            open[number] -= 1
            forget(number, of: delivery.update)
        }
    }

    private mutating func forget(_ number: Int, of update: BackendUpdate.ID) {
        missing[update]?.remove(number)
        if missing[update]?.isEmpty == true { missing[update] = nil }
    }

    private mutating func run(_ milliseconds: Int, isSending: Bool = true) async {
        for _ in 0..<milliseconds {
            step(isSending: isSending)
            await yieldSometimes()
        }
    }

    /// Lets other tests run, which wait for one of the few threads.
    private func yieldSometimes() async {
        if links.time.isMultiple(of: 500) { await Task.yield() }
    }

    private mutating func settle(_ number: Int) {
        for update in missing.keys { forget(number, of: update) }
        completed(estimate.settled(centrals[number]))
        open[number] = 0
    }

    /// Nothing comes through to the last for 20 s.
    ///
    /// The controller has room for the others meanwhile.
    @Test(arguments: [[5, 5], [5, 7, 6, 5]])
    mutating func aSilentLinkNeitherBreaksTheBoundNorStopsTheOthers(periods: [Int]) async throws {
        try begin(periods)
        (links.buffers, links.mostOfOneLink) = (16, 4)
        links.links[periods.count - 1].stalledUntil = 20_000
        await run(20_000)
        #expect(most.allSatisfy { $0 <= SimulatedLinks.mostHandedOver }, "\(most)")
        // All go at the speed of the slowest that goes.
        let slowest = periods.dropLast().max() ?? 0
        for link in links.links.dropLast() { #expect(link.arrived * slowest >= 20_000 * 7 / 10) }
        // It is sent to again.
        let arrived = links.links.map(\.arrived)
        await run(60_000)
        for (number, period) in periods.enumerated() {
            #expect((links.links[number].arrived - arrived[number]) * period >= 60_000 / 2)
        }
        await run(60_000, isSending: false)
        #expect(most.allSatisfy { $0 <= SimulatedLinks.mostHandedOver }, "\(most)")
        #expect(estimate.isEmpty && open.allSatisfy { $0 == 0 })
    }

    /// A central that reads all the time does not keep a probe of stalled links from its end.
    ///
    /// Each request is counted before its response, so a response looks like a sent update.
    @Test(arguments: [90, 180, 230]) mutating func readsDoNotStopTheUpdates(interval: Int) async throws {
        try begin([5, 5])
        (links.buffers, links.mostOfOneLink) = (16, 4)
        await run(1_000)
        links.links[1].stalledUntil = .max
        let arrived = links.links[0].arrived
        for _ in 0..<20_000 / interval {
            links.request()
            await run(70)
            links.respond(on: 0)
            await run(interval - 70)
        }
        #expect(links.links[0].arrived - arrived >= 1_000)
        #expect(most[0] <= SimulatedLinks.mostHandedOver)
    }

    /// A silent link that is sent to rarely does not make a busy link look silent.
    @Test mutating func aRareUpdateForASilentLinkStopsNothing() async throws {
        try begin([5, 5])
        (links.buffers, links.mostOfOneLink) = (16, 4)
        links.links[1].stalledUntil = .max
        gone = [1]
        for _ in 0..<240 {
            if open[1] < 16 { give(to: 1, at: Self.start + .milliseconds(links.time)) }
            next += 1
            await run(250)
        }
        #expect(links.links[0].arrived >= 6_000)
        #expect(most[0] <= SimulatedLinks.mostHandedOver)
    }

    /// The links of two of four centrals stay silent for two minutes.
    ///
    /// Where they have all the room of the controller, nothing can be sent to the others. Otherwise it is.
    @Test(arguments: [4, .max])
    mutating func twoSilentLinksStayWithinTheBound(mostOfOneLink: Int) async throws {
        try begin([5, 5, 5, 5])
        (links.buffers, links.mostOfOneLink) = (16, mostOfOneLink)
        await run(1_000)
        for number in 1...2 { links.links[number].stalledUntil = .max }
        await run(120_000)
        #expect(most.allSatisfy { $0 <= SimulatedLinks.mostHandedOver }, "\(most)")
        if mostOfOneLink == 4 {
            for number in [0, 3] { #expect(links.links[number].arrived >= 20_000) }
        }
    }

    @Test mutating func whoIsGoneLeavesNothingBehind() async throws {
        try begin([5, 5])
        links.mostOfOneLink = 4
        links.links[1].stalledUntil = .max
        await run(5_000)
        links.disconnect(1)
        settle(1)
        links.links[1].stalledUntil = 0
        let before = links.links.map(\.arrived)
        await run(5_000)
        for number in 0..<2 { #expect(links.links[number].arrived - before[number] >= 700) }
    }

    /// A silent link occupies all buffers of the controller when it ends.
    ///
    /// bluetoothd does not report the end of the link in the first 20 s. The kernel gives these buffers to
    /// other links only when it receives something more to send.
    @Test(arguments: [[5, 5], [5, 7, 5, 5]], [1_000, 8_000])
    mutating func whoIsGoneHoldsUpNobody(periods: [Int], silence: Int) async throws {
        try begin(periods)
        links.mostOfOneLink = .max
        let last = periods.count - 1
        await run(1_000)
        links.links[last].stalledUntil = .max
        await run(silence)
        links.disconnect(last)
        gone = [last]
        settle(last)
        // More than can have been on its way before.
        var before = links.links.map(\.arrived)
        await run(5_000)
        for number in 0..<last { #expect(links.links[number].arrived - before[number] > 256) }
        before = links.links.map(\.arrived)
        await run(5_000)
        for number in 0..<last {
            #expect((links.links[number].arrived - before[number]) * periods[number] >= 3_000, "\(number)")
        }
        #expect(most.allSatisfy { $0 <= SimulatedLinks.mostHandedOver }, "\(most)")
    }

    /// One central after another goes silent, fills the controller, and disconnects.
    ///
    /// The first central stays.
    /// The socket of bluetoothd takes ``SimulatedLinks/mostHandedOver`` packets for one central. Beyond them,
    /// bluetoothd hands over no packet, and the kernel sends nothing to anyone without one.
    @Test(arguments: [[5, 5], [5, 5, 5, 5], [30, 30], [15, 15, 15]], [false, true])
    mutating func oneSilentLinkAfterAnotherStopsNothing(periods: [Int], isShared: Bool) async throws {
        try begin(periods)
        self.isShared = isShared
        links.mostOfOneLink = .max
        for (round, silence) in [2_000, 8_000, 20_000, 20_000, 8_000, 2_000, 8_000, 8_000].enumerated() {
            let leaving = 1 + round % (periods.count - 1)
            await run(2_000)
            links.links[leaving].stalledUntil = .max
            await run(silence)
            links.disconnect(leaving)
            gone = [leaving]
            settle(leaving)
            links.links[leaving].stalledUntil = 0
            await run(1_000)
            gone = []
        }
        #expect(most[0] <= 80, "\(most)")
        let before = links.links.map(\.arrived)
        await run(10_000)
        for number in periods.indices {
            #expect((links.links[number].arrived - before[number]) * periods[number] >= 5_000)
        }
    }

    /// Nothing comes through to one for ten minutes, and its link is not cut, while another comes and goes.
    ///
    /// Once as much is owed as may be, one more goes to the silent one each 32 s.
    @Test(arguments: [[5, 5], [5, 5, 7]])
    mutating func aLinkThatStaysSilentGetsLittleMore(periods: [Int]) async throws {
        try begin(periods)
        (links.buffers, links.mostOfOneLink) = (16, 4)
        let visitor = periods.count - 1
        await run(1_000)
        links.links[0].stalledUntil = .max
        while links.time < 600_000 {
            await run(1_500)
            links.disconnect(visitor)
            gone = [visitor]
            settle(visitor)
            await run(500)
            gone = []
        }
        #expect(most[0] <= 180, "\(most)")
        #expect(most.dropFirst().allSatisfy { $0 <= SimulatedLinks.mostHandedOver }, "\(most)")
        for link in links.links.dropFirst().dropLast() { #expect(link.arrived >= 20_000) }
    }

    /// All go at the speed of the slowest, and have what the windows of all allow.
    @Test(arguments: [[100, 5], [5, 10, 20, 50]])
    mutating func theSlowestSetsThePace(periods: [Int]) async throws {
        try begin(periods)
        (links.buffers, links.mostOfOneLink) = (16, 4)
        await run(20_000)
        let slowest = periods.max() ?? 0
        #expect(most.allSatisfy { $0 <= 16 * periods.count + links.buffers }, "\(most)")
        for link in links.links { #expect(link.arrived * slowest >= 20_000 * 8 / 10) }
        await run(20_000, isSending: false)
        #expect(estimate.isEmpty && open.allSatisfy { $0 == 0 })
    }

    /// Links of any speeds, some silent for a while, some ending.
    @Test(arguments: 0..<6 as Range<UInt64>)
    mutating func theBoundIsKeptAndNothingStops(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let periods = (0..<Int.random(in: 2...4, using: &random)).map { _ in
            Int.random(in: 4...40, using: &random)
        }
        try begin(periods)
        (links.buffers, links.mostOfOneLink) = (16, 4)
        for _ in 0..<12_000 {
            let number = Int.random(in: periods.indices, using: &random)
            switch Int.random(in: 0..<12_000, using: &random) {
            case 0..<3: links.links[number].stalledUntil = links.time + .random(in: 1...5_000, using: &random)
            case 3..<5:
                links.disconnect(number)
                settle(number)
            default: break
            }
            step()
            await yieldSometimes()
        }
        #expect(most.allSatisfy { $0 <= SimulatedLinks.mostHandedOver }, "seed \(seed): \(most)")
        for number in periods.indices { links.links[number].stalledUntil = 0 }
        let arrived = links.links.map(\.arrived)
        await run(12_000)
        for number in periods.indices {
            #expect(links.links[number].arrived - arrived[number] >= 30, "seed \(seed)")
        }
        await run(30_000, isSending: false)
        #expect(estimate.isEmpty && open.allSatisfy { $0 == 0 }, "seed \(seed)")
    }
}
