import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct LinkObserverTests {
    private var observer = LinkObserver(adapter: 0)

    /// An ATT notification of an attribute, as packets of at most so many bytes.
    private func notification(
        of attribute: UInt16,
        _ value: [UInt8],
        on connection: UInt16 = 0x40,
        opcode: UInt8 = 0x1B,
        packetSize: Int = 251
    ) -> [[UInt8]] {
        let pdu = [opcode] + attribute.gattBytes + value
        return data(UInt16(pdu.count).gattBytes + [0x04, 0x00] + pdu, on: connection, packetSize: packetSize)
    }

    private func data(_ content: [UInt8], on connection: UInt16, packetSize: Int = 251) -> [[UInt8]] {
        stride(from: 0, to: content.count, by: packetSize).map { start in
            let part = Array(content[start..<min(start + packetSize, content.count)])
            let head = connection | (start == 0 ? 0 : 0x1000)
            return frame(4, head.gattBytes + UInt16(part.count).gattBytes + part)
        }
    }

    private func completed(_ counts: [(UInt16, UInt16)]) -> [UInt8] {
        let parameters = [UInt8(counts.count)] + counts.flatMap { $0.0.gattBytes + $0.1.gattBytes }
        return frame(3, [0x13, UInt8(parameters.count)] + parameters)
    }

    private func frame(_ opcode: UInt16, adapter: UInt16 = 0, _ payload: [UInt8]) -> [UInt8] {
        opcode.gattBytes + adapter.gattBytes + UInt16(payload.count).gattBytes + payload
    }

    private mutating func see(_ frames: [[UInt8]]) -> [LinkObservation] {
        frames.flatMap { bytes in MonitorFrame(bytes[...]).map { observer.take($0) } ?? [] }
    }

    private func delivery(_ attribute: UInt16, on connection: UInt16 = 0x40) -> LinkObservation {
        .completed(attribute: AttributeHandle(rawValue: attribute), connection: connection)
    }

    @Test(arguments: [0x1B, 0x1D] as [UInt8])
    mutating func anUpdateHasLeftWhenTheControllerHasSentIt(opcode: UInt8) {
        #expect(see(notification(of: 0x2A, [1, 2], opcode: opcode)).isEmpty)
        #expect(observer.packetsInFlight(on: 0x40) == 1)
        #expect(see([completed([(0x40, 1)])]) == [delivery(0x2A)])
        #expect(see([completed([(0x40, 1)])]).isEmpty)
    }

    @Test mutating func anUpdateInSeveralPacketsHasLeftWithTheLast() {
        let frames = notification(of: 0x2A, [UInt8](repeating: 7, count: 60), packetSize: 27)
        #expect(frames.count == 3)
        #expect(see(frames).isEmpty)
        #expect(see([completed([(0x40, 2)])]).isEmpty)
        #expect(see([completed([(0x40, 1)])]) == [delivery(0x2A)])
    }

    @Test mutating func packetsOfAnEventAreThoseOfTheirConnections() {
        _ = see(notification(of: 1, [1], on: 0x40) + notification(of: 2, [1], on: 0x41))
        _ = see(notification(of: 3, [1], on: 0x41))
        #expect(see([completed([(0x41, 1), (0x40, 1)])]) == [delivery(2, on: 0x41), delivery(1)])
        #expect(see([completed([(0x41, 1)])]) == [delivery(3, on: 0x41)])
    }

    @Test mutating func otherDataTakesItsPlaceAndTellsNothing() {
        let response = data([3, 0, 4, 0, 0x0B, 1, 2], on: 0x40)
        let signal = data([5, 0, 5, 0, 0x1B, 9, 0, 1, 2], on: 0x40)
        _ = see(response + notification(of: 7, [1]) + signal)
        #expect(see([completed([(0x40, 1)])]).isEmpty)
        #expect(see([completed([(0x40, 1)])]) == [delivery(7)])
        #expect(see([completed([(0x40, 1)])]).isEmpty)
    }

    @Test mutating func severalUpdatesInOnePacketLeaveTogether() {
        let pairs: [UInt8] = [0x23, 5, 0, 2, 0, 1, 1, 6, 0, 0, 0]
        _ = see(data(UInt16(pairs.count).gattBytes + [4, 0] + pairs, on: 0x40))
        #expect(see([completed([(0x40, 1)])]) == [delivery(5), delivery(6)])
    }

    @Test mutating func whatAConnectionCarriedEndsWithIt() {
        _ = see(notification(of: 7, [1]))
        #expect(see([frame(3, [0x05, 4, 0, 0x40, 0, 0x13])]) == [.ended(connection: 0x40)])
        #expect(see([completed([(0x40, 1)])]).isEmpty)
        #expect(see([frame(1, [])]) == [.adapterGone])
    }

    /// A blocked adapter reports the end of none of its connections.
    @Test mutating func whatWasCarriedEndsWithTheAdapterSwitchedOff() {
        _ = see(notification(of: 7, [1]))
        #expect(see([frame(9, [])]) == [.adapterGone])
        #expect(observer.packetsInFlight(on: 0x40) == 0)
        _ = see(notification(of: 8, [1]))
        #expect(see([completed([(0x40, 1)])]) == [delivery(8)])
    }

    @Test mutating func anotherAdapterTellsNothing() {
        var frames = notification(of: 7, [1])
        frames[0][2] = 1
        #expect(see(frames).isEmpty)
        #expect(observer.packetsInFlight(on: 0x40) == 0)
    }

    /// What was missed does not pile up: no controller holds so much.
    @Test mutating func completionsThatWereMissedAreMadeUpFor() {
        let seen = see((0..<300).flatMap { _ in notification(of: 7, [1]) })
        #expect(seen.count == 44)
        #expect(observer.packetsInFlight(on: 0x40) == 256)
    }

    @Test mutating func aLinkIsBusyWhileSomethingMovesOrIsUnderWay() {
        #expect(observer.look() == LinkActivity())
        _ = see(notification(of: 7, [1]) + notification(of: 7, [1], on: 0x41))
        #expect(observer.look() == LinkActivity(busy: [0x40, 0x41], isHeldUp: true))
        _ = see([completed([(0x40, 1)])])
        #expect(observer.look() == LinkActivity(busy: [0x40, 0x41], completing: [0x40]))
        #expect(observer.look() == LinkActivity(busy: [0x41], isHeldUp: true))
        _ = see([completed([(0x41, 1)])])
        #expect(observer.look() == LinkActivity(busy: [0x41], completing: [0x41]))
        #expect(observer.look() == LinkActivity())
    }

    /// A completion that went unseen would have a link count as busy for ever.
    @Test mutating func aLinkInDoubtIsEmptyWhenNothingMoves() {
        _ = see(notification(of: 7, [1]) + notification(of: 8, [1]))
        #expect(observer.missed() == [.missed])
        #expect(observer.look().busy == [0x40])
        #expect(see([completed([(0x40, 1)])]) == [delivery(7)])
        #expect(observer.look().busy == [0x40])
        for _ in 0..<3 { #expect(observer.look().busy == [0x40]) }
        #expect(observer.look() == LinkActivity(forgotten: [0x40]))
        #expect(observer.look() == LinkActivity())
        #expect(see(notification(of: 9, [1]) + [completed([(0x40, 1)])]) == [delivery(9)])
    }

    /// The filter of the socket cuts what is not needed.
    @Test mutating func theHeadOfAPacketIsEnough() {
        let bytes = notification(of: 0x2A, [UInt8](repeating: 7, count: 100))[0].prefix(17)
        #expect(see([Array(bytes)]).isEmpty)
        #expect(see([completed([(0x40, 1)])]) == [delivery(0x2A)])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    mutating func whateverComesIsBounded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes = random.plausibleBytes(count: .random(in: 0...40, using: &random))
            if bytes.count > 6 {
                bytes.replaceSubrange(0..<6, with: [[3, 4][Int(bytes[0] % 2)], 0, 0, 0, 0, 0])
            }
            if bytes.count > 8 { bytes[7] &= 0x10 }
            _ = see([bytes])
        }
        for connection in 0..<0x1000 as Range<UInt16> {
            #expect(observer.packetsInFlight(on: connection) <= 256)
        }
        _ = observer.missed()
        for _ in 0..<5 { _ = observer.look() }
        #expect(observer.look() == LinkActivity())
    }
}
