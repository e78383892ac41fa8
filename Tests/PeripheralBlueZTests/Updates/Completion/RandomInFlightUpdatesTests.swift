import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// A controller, a kernel and a bluetoothd that are observed with gaps, against what is concluded from it.
@Suite(.timeLimit(.minutes(1)))
struct RandomInFlightUpdatesTests {
    /// One way of an update: to a central, by its connection.
    private struct Packet {
        var attribute: AttributeHandle
        var central: Int
        var isUpdate: Bool
    }

    private static let window = 16
    private static let attributes: [AttributeHandle] = [3, 6]

    private var random = SeededGenerator(seed: 0)
    private var inFlight = InFlightUpdates()
    private var observer = LinkObserver(adapter: 0)
    private var next: UInt64 = 0
    private var open: Set<BackendUpdate.ID> = []
    /// What bluetoothd and the kernel hold, and what the controller does.
    private var waiting: [[Packet]] = [[], [], []]
    private var held: [[Packet]] = [[], [], []]
    /// How many updates have been given and have not arrived, for each central.
    private var underWay = [0, 0, 0]
    /// Whether frames may go unseen.
    private var hasGaps = false
    private var wasMissed = false

    private func central(_ number: Int) throws -> Central.ID {
        Central.ID(address: try #require(DeviceAddress(rawValue: UInt64(number + 1))))
    }

    private mutating func see(_ payload: [UInt8], _ opcode: UInt16) throws {
        if hasGaps, random.next() % 16 == 0 {
            wasMissed = true
            return
        }
        let bytes = opcode.gattBytes + [0, 0] + UInt16(payload.count).gattBytes + payload
        for observation in observer.take(try #require(MonitorFrame(bytes[...]))) {
            guard case .completed(let attribute, let connection) = observation else { continue }
            end([inFlight.completed(attribute, for: try central(Int(connection)))])
        }
    }

    /// The kernel counts what it drops, and is asked after each turn.
    private mutating func noteGaps() {
        guard wasMissed else { return }
        wasMissed = false
        if observer.missed() == [.missed] { inFlight.missed() }
    }

    private mutating func end(_ events: [BackendEvent?]) {
        for event in events {
            guard case .updateEnded(let id, _) = event else { continue }
            #expect(open.remove(id) != nil, "ended twice")
        }
    }

    private mutating func give() throws {
        guard open.count < Self.window else { return }
        let attribute = Self.attributes[Int(random.next() % 2)]
        let subscribers = (0..<3).filter { _ in random.next() % 2 == 0 }
        guard !subscribers.isEmpty else { return }
        let id = BackendUpdate.ID(next)
        next += 1
        open.insert(id)
        inFlight.given(id, of: attribute, for: try subscribers.map { try central($0) })
        end([inFlight.taken(id, .completed)])
        for subscriber in subscribers {
            waiting[subscriber].append(Packet(attribute: attribute, central: subscriber, isUpdate: true))
            underWay[subscriber] += 1
        }
    }

    private mutating func moveToController(_ number: Int) throws {
        guard !waiting[number].isEmpty, held.map(\.count).reduce(0, +) < 8 else { return }
        let packet = waiting[number].removeFirst()
        held[number].append(packet)
        let pdu: [UInt8] = packet.isUpdate ? [0x1B] + packet.attribute.rawValue.gattBytes : [0x0B]
        let content = UInt16(pdu.count).gattBytes + [4, 0] + pdu
        try see(UInt16(number).gattBytes + UInt16(content.count).gattBytes + content, 4)
    }

    private mutating func complete(_ number: Int) throws {
        guard !held[number].isEmpty else { return }
        if held[number].removeFirst().isUpdate { underWay[number] -= 1 }
        try see([0x13, 5, 1] + UInt16(number).gattBytes + [1, 0], 3)
    }

    /// bluetoothd is idle then: what it was given is in the kernel, which has handed on what the controller
    /// has room for.
    private mutating func look() throws {
        for number in 0..<3 where !waiting[number].isEmpty { try moveToController(number) }
        noteGaps()
        let activity = observer.look()
        let centrals = try (0..<3).map { try central($0) }
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
    }

    private mutating func step() throws {
        let number = Int(random.next() % 3)
        switch random.next() % 8 {
        case 0, 1: try give()
        case 2, 3: try moveToController(number)
        case 4: waiting[number].append(Packet(attribute: 3, central: number, isUpdate: false))
        default: try complete(number)
        }
        noteGaps()
    }

    /// No update ends before it has arrived at all its centrals, as long as nothing goes unseen.
    @Test(arguments: 0..<100 as Range<UInt64>)
    mutating func nothingEndsTooEarly(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            try step()
            #expect((underWay.max() ?? 0) <= open.count)
        }
        try expectEnd()
    }

    /// What goes unseen neither has the updates wait for ever, nor lets more be under way than the window and
    /// one more for each time that a link was believed to be empty.
    @Test(arguments: 0..<100 as Range<UInt64>)
    mutating func gapsAreRecoveredFrom(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        hasGaps = true
        for turn in 0..<2_000 {
            try step()
            if turn % 40 == 39 { try look() }
            #expect((underWay.max() ?? 0) <= 2 * Self.window)
        }
        hasGaps = false
        try expectEnd()
    }

    private mutating func expectEnd() throws {
        while waiting.contains(where: { !$0.isEmpty }) || held.contains(where: { !$0.isEmpty }) {
            for number in 0..<3 {
                try moveToController(number)
                try complete(number)
            }
        }
        noteGaps()
        for _ in 0..<30 { try look() }
        #expect(open.isEmpty)
        #expect(inFlight.isEmpty && !inFlight.isUrgent)
        #expect(underWay == [0, 0, 0])
    }
}
