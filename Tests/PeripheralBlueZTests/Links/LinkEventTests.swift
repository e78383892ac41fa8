import Glibc
import PeripheralDBus
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// The events of a controller, filtered by the kernel on a pair of sockets that need no privilege.
@Suite(.timeLimit(.minutes(1)))
struct LinkEventTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var packet: [UInt8]
        var event: LinkEvent?

        init(_ name: String, _ packet: [UInt8], _ event: LinkEvent?) {
            (testDescription, self.packet, self.event) = (name, packet, event)
        }
    }

    private static let end: [UInt8] = [4, 0x05, 4, 0, 0x40, 0xF1, 0x13]

    private static let address: [UInt8] = [1, 1, 0, 0, 0xEE, 0xFF, 0xC0]
    private static let addresses = [UInt8](repeating: 0, count: 12)
    /// 50 ms, 2 and 4 s.
    private static let timing: [UInt8] = [40, 0, 2, 0, 0x90, 1]
    private static let inUse = ConnectionParameters(
        interval: .milliseconds(50),
        latency: 2,
        supervisionTimeout: .seconds(4)
    )

    static let rows = [
        Row("the end of a link", end, .ended(connection: 0x140, reason: 0x13)),
        Row("a longer end", end + [1, 2], .ended(connection: 0x140, reason: 0x13)),
        Row("a link that does not end", [4, 0x05, 4, 0x0C, 0x40, 0, 0x13], nil),
        Row(
            "a beginning",
            [4, 0x3E, 19, 0x01, 0, 0x40, 0, 1] + address + timing + [0],
            .began(connection: 0x40, inUse)
        ),
        Row(
            "an enhanced beginning",
            [4, 0x3E, 31, 0x0A, 0, 0x40, 0, 1] + address + addresses + timing + [0],
            .began(connection: 0x40, inUse)
        ),
        Row(
            "an enhanced beginning of version 2",
            [4, 0x3E, 34, 0x29, 0, 0x40, 0, 1] + address + addresses + timing + [0, 1, 0xFF, 0xFF],
            .began(connection: 0x40, inUse)
        ),
        Row("no beginning", [4, 0x3E, 19, 0x01, 0x3C, 0x40, 0, 1] + address + timing + [0], nil),
        Row(
            "a change",
            [4, 0x3E, 10, 0x03, 0, 0x40, 0] + timing,
            .changed(connection: 0x40, status: 0, inUse)
        ),
        Row(
            "a refused change",
            [4, 0x3E, 10, 0x03, 0x3B, 0x40, 0] + timing,
            .changed(connection: 0x40, status: 0x3B, inUse)
        ),
        Row("an advertisement", [4, 0x3E, 12, 0x02, 1, 0, 0] + address + [0, 0xC0], nil),
        Row("a begun command", [4, 0x0F, 4, 0, 1, 0x13, 0x20], .begun(opcode: 0x2013, status: 0)),
        Row("an unknown command", [4, 0x0F, 4, 1, 1, 0x05, 0x14], .begun(opcode: 0x1405, status: 1)),
        Row(
            "a measurement",
            [4, 0x0E, 7, 1, 0x05, 0x14, 0, 0x40, 0, 0xCE],
            .measured(connection: 0x40, status: 0, -50)
        ),
        Row("another answer", [4, 0x0E, 7, 1, 0x03, 0x14, 0, 0x40, 0, 0xCE], nil),
        Row("another event", [4, 0x13, 4, 0, 0x40, 0, 0x13], nil),
        Row("data", [2, 0x05, 4, 0, 0x40, 0, 0x13], nil),
    ]

    @Test(arguments: rows)
    func aPacketIsRead(row: Row) async throws {
        #expect(LinkEvent(([0, 0] + row.packet)[2...]) == row.event)
    }

    @Test(arguments: rows.filter { $0.event != nil })
    func aShortPacketIsIgnored(row: Row) {
        let shortest = (0...row.packet.count).first { LinkEvent(row.packet[..<$0]) != nil }
        // Only the accuracy of the clock, and more numbers, may be missing.
        #expect(shortest.map { row.packet.count - $0 <= 4 } == true)
    }

    /// The kernel passes exactly the packets that the program reads, and a closed socket ends the watch.
    @Test func theProgramReceivesTheEvents() async throws {
        let loop = EventLoop()
        let program = Program(on: loop)
        let other = try #require(await program.begin())
        for row in Self.rows { _ = send(other.descriptor, row.packet, row.packet.count, 0) }
        try await until { await program.seen.count == Self.rows.compactMap(\.event).count }
        #expect(await program.seen == Self.rows.compactMap(\.event))
        try await program.send(.readSignalStrength(connection: 0x40))
        let preference = ConnectionPreference(interval: .milliseconds(15) ... .milliseconds(30), latency: 1)
        try await program.send(.update(connection: 0x40, preference.units()))
        var buffer = [UInt8](repeating: 0, count: 64)
        let packets = (0..<2).map { _ in Array(buffer[..<recv(other.descriptor, &buffer, buffer.count, 0)]) }
        #expect(packets[0] == [1, 0x05, 0x14, 2, 0x40, 0])
        #expect(packets[1] == [1, 0x13, 0x20, 14, 0x40, 0, 12, 0, 24, 0, 1, 0, 0xF4, 1, 0, 0, 0, 0])
        #expect(await program.isOpen)
        close(other.take())
        try await until { await !program.isOpen }
        await loop.stop()
    }
}

/// A program that receives events from the other end of a socket.
private actor Program {
    private nonisolated let loop: EventLoop
    private var control: HCILinkControl?
    private(set) var seen: [LinkEvent] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    var isOpen: Bool { control?.isOpen == true }

    func send(_ command: LinkCommand) throws {
        try control?.send(command)
    }

    /// Returns the other end of the socket.
    func begin() -> OwnedFileDescriptor? {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        let own = OwnedFileDescriptor(adopting: ends[0])
        guard SocketFilter.linkEvents.attach(to: own) else { return nil }
        control = HCILinkControl(own, on: loop) { event in self.assumeIsolated { $0.seen.append(event) } }
        return OwnedFileDescriptor(adopting: ends[1])
    }
}
