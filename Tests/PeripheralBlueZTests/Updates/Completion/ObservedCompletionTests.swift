import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// Several links that are observed with overruns, of different speeds, some silent at times, some ending:
/// what is concluded keeps the bound, lets each link carry nearly what it can, and waits for nothing that
/// does not come.
@Suite(.timeLimit(.minutes(1)))
struct ObservedCompletionTests {
    private static let window = 16
    private static let attribute: AttributeHandle = 3

    private var links = SimulatedLinks(periods: [])
    private var inFlight = InFlightUpdates()
    private var observer = LinkObserver(adapter: 0)
    private var random = SeededGenerator(seed: 0)
    private var centrals: [Central.ID] = []
    private var open: [BackendUpdate.ID: Int] = [:]
    private var openCounts: [Int] = []
    private var given: UInt64 = 0
    private var unseenUntil = 0
    private var hasMissed = false
    private var nextLook = 0
    private var mostUnderWay: [Int] = []
    private var isUnbounded = false

    private mutating func begin(_ periods: [Int], seed: UInt64) throws {
        links = SimulatedLinks(periods: periods)
        random = SeededGenerator(seed: seed)
        (mostUnderWay, openCounts) = (periods.map { _ in 0 }, periods.map { _ in 0 })
        centrals = try periods.indices.map {
            Central.ID(address: try #require(DeviceAddress(rawValue: UInt64($0 + 1))))
        }
    }

    private mutating func see(_ opcode: UInt16, _ payload: [UInt8]) throws {
        guard links.time >= unseenUntil else {
            hasMissed = true
            return
        }
        let bytes = opcode.gattBytes + [0, 0] + UInt16(payload.count).gattBytes + payload
        for observation in observer.take(try #require(MonitorFrame(bytes[...]))) {
            guard case .completed(let attribute, let connection) = observation else { continue }
            end([inFlight.completed(attribute, for: centrals[Int(connection)])])
        }
    }

    private mutating func end(_ events: [BackendEvent?]) {
        for case .updateEnded(let id, _)? in events {
            if let number = open.removeValue(forKey: id) { openCounts[number] -= 1 }
        }
    }

    private mutating func fill(_ number: Int) {
        if isUnbounded {
            while links.links[number].underWay < 4 * Self.window { links.give(20, to: number) }
            return
        }
        while openCounts[number] < Self.window {
            links.give(20, to: number)
            let id = BackendUpdate.ID(given)
            (open[id], given) = (number, given + 1)
            openCounts[number] += 1
            inFlight.given(id, of: Self.attribute, for: [centrals[number]])
            end([inFlight.taken(id, .completed)])
        }
    }

    private mutating func step() throws {
        links.step()
        for event in links.events {
            switch event {
            case .sent(let number, let packet):
                let pdu: [UInt8] = packet.isUpdate ? [0x1B] + Self.attribute.rawValue.gattBytes : [0x0B]
                let content = UInt16(pdu.count).gattBytes + [4, 0] + pdu
                try see(4, UInt16(number).gattBytes + UInt16(content.count).gattBytes + content)
            case .completed(let number, _):
                try see(3, [0x13, 5, 1] + UInt16(number).gattBytes + [1, 0])
            }
        }
        if hasMissed, links.time >= unseenUntil {
            hasMissed = false
            if observer.missed() == [.missed] { inFlight.missed() }
            nextLook = min(nextLook, links.time + 25)
        }
        if links.time >= nextLook { look() }
        for number in mostUnderWay.indices {
            mostUnderWay[number] = max(mostUnderWay[number], links.links[number].underWay)
        }
    }

    private mutating func look() {
        let activity = observer.look()
        let busy = activity.busy.map { centrals[Int($0)] }
        let completing = activity.completing.map { centrals[Int($0)] }
        let forgotten = activity.forgotten.map { centrals[Int($0)] }
        end(
            inFlight.looked(
                { busy.contains($0) ? true : activity.isHeldUp ? nil : false },
                hasCompleted: completing.contains,
                isForgotten: forgotten.contains
            )
        )
        nextLook = links.time + (inFlight.isUrgent ? 25 : 200)
    }

    private mutating func disconnect(_ number: Int) throws {
        links.disconnect(number)
        try see(3, [0x05, 4, 0] + UInt16(number).gattBytes + [0x13])
        end(inFlight.settled(centrals[number]))
    }

    /// A link on which nothing comes through for a minute, beside another, while frames go unseen again and
    /// again.
    @Test(arguments: [2_000, 300, 60])
    mutating func overrunsLetLittleMoreUnderWayOnALinkThatIsSilent(interval: Int) throws {
        try begin([5, 7], seed: 1)
        links.links[1].stalledUntil = 60_000
        for time in 0..<60_000 {
            for number in 0..<2 { fill(number) }
            if time % interval == interval - 1 { unseenUntil = links.time + 20 }
            try step()
        }
        #expect(mostUnderWay[1] <= 32)
        #expect(mostUnderWay[0] <= 32)
    }

    /// After a gap in the observation, the framework does not wait for unobserved values.
    ///
    /// This also holds if the last value is unobserved.
    @Test mutating func aLinkThatIsEmptyIsUsedAgain() throws {
        try begin([5], seed: 1)
        for _ in 0..<20 {
            fill(0)
            unseenUntil = links.time + 200
            for _ in 0..<800 { try step() }
            #expect(open.isEmpty)
            fill(0)
            for _ in 0..<800 { try step() }
            #expect(open.isEmpty)
        }
    }

    private mutating func run(_ periods: [Int], seed: UInt64, overruns: Bool, unbounded: Bool) throws -> [Int]
    {
        self = Self()
        try begin(periods, seed: seed)
        isUnbounded = unbounded
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<periods.count, using: &random)
            switch Int.random(in: 0..<20_000, using: &random) {
            case 0..<4: links.links[number].stalledUntil = links.time + .random(in: 1...3_000, using: &random)
            case 4..<6: try disconnect(number)
            case 6..<16 where overruns: unseenUntil = links.time + .random(in: 1...40, using: &random)
            case 16..<30:
                links.request()
                links.respond(on: number)
            default: break
            }
            for number in periods.indices { fill(number) }
            try step()
        }
        return links.links.map(\.arrived)
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    mutating func boundAndThroughputAreKept(seed: UInt64) throws {
        var choice = SeededGenerator(seed: seed)
        let periods = (0..<Int.random(in: 1...4, using: &choice)).map { _ in
            [2, 5, 8, 30, 100].randomElement(using: &choice) ?? 5
        }
        let hasOverruns = seed % 2 == 1
        let possible = try run(periods, seed: seed, overruns: hasOverruns, unbounded: true).reduce(0, +)
        let arrived = try run(periods, seed: seed, overruns: hasOverruns, unbounded: false).reduce(0, +)
        #expect(mostUnderWay.allSatisfy { $0 <= (hasOverruns ? 32 : 16) }, "seed \(seed): \(mostUnderWay)")
        #expect(
            arrived * 100 >= possible * (hasOverruns ? 60 : 95),
            "seed \(seed): \(arrived) of \(possible)"
        )
        // Nothing is waited for that does not come.
        for number in periods.indices { links.links[number].stalledUntil = 0 }
        for _ in 0..<20_000 { try step() }
        #expect(open.isEmpty && inFlight.isEmpty, "seed \(seed)")
    }
}
