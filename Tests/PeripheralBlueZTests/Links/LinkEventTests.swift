import Glibc
import PeripheralDBus
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

    static let rows = [
        Row("the end of a link", end, .ended(connection: 0x140, reason: 0x13)),
        Row("a longer end", end + [1, 2], .ended(connection: 0x140, reason: 0x13)),
        Row("a link that does not end", [4, 0x05, 4, 0x0C, 0x40, 0, 0x13], nil),
        Row("another event", [4, 0x13, 4, 0, 0x40, 0, 0x13], nil),
        Row("data", [2, 0x05, 4, 0, 0x40, 0, 0x13], nil),
    ]

    @Test(arguments: rows)
    func aPacketIsRead(row: Row) async throws {
        #expect(LinkEvent(([0, 0] + row.packet)[2...]) == row.event)
    }

    @Test(arguments: rows.filter { $0.event != nil })
    func aShortPacketIsIgnored(row: Row) {
        let count = row.packet.count
        #expect((0..<count).allSatisfy { LinkEvent(row.packet[..<$0]) == nil || $0 >= Self.end.count })
    }

    /// The kernel passes exactly the packets that the program reads, and a closed socket ends the watch.
    @Test func theProgramReceivesTheEvents() async throws {
        let loop = EventLoop()
        let program = Program(on: loop)
        let other = try #require(await program.begin())
        for row in Self.rows { _ = send(other.descriptor, row.packet, row.packet.count, 0) }
        try await until { await program.seen.count == 2 }
        #expect(await program.seen == Self.rows.compactMap(\.event))
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
