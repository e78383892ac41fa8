import Glibc
import PeripheralDBus
import Testing

@testable import PeripheralBlueZ

/// The filter, run by the kernel on a pair of sockets that need no privilege.
@Suite(.timeLimit(.minutes(1)))
struct MonitorFilterTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var frame: [UInt8]
        var passed: Int?

        init(_ name: String, _ opcode: UInt8, _ payload: [UInt8], passed: Int?, adapter: UInt8 = 1) {
            testDescription = name
            frame = [opcode, 0, adapter, 0, UInt8(payload.count), 0] + payload
            self.passed = passed
        }
    }

    private static let value = [UInt8](repeating: 0xAA, count: 20)

    static let rows = [
        Row("a notification", 4, [0x40, 0x20, 27, 0, 23, 0, 4, 0, 0x1B, 7, 0] + value, passed: 17),
        Row("an indication", 4, [0x40, 0x00, 27, 0, 23, 0, 4, 0, 0x1D, 7, 0] + value, passed: 17),
        Row("several in one", 4, [0x40, 0, 28, 0, 24, 0, 4, 0, 0x23, 7, 0, 20, 0] + value, passed: 39),
        Row("a short response", 4, [0x40, 0x00, 5, 0, 1, 0, 4, 0, 0x13], passed: 15),
        Row("a value that was read", 4, [0x40, 0x00, 25, 0, 21, 0, 4, 0, 0x0B] + value, passed: 15),
        Row("a continuation", 4, [0x40, 0x10, 20, 0] + value, passed: 10),
        Row("another channel", 4, [0x40, 0x00, 24, 0, 20, 0, 5, 0] + value, passed: 14),
        Row(
            "another adapter",
            4,
            [0x40, 0x20, 27, 0, 23, 0, 4, 0, 0x1B, 7, 0] + value,
            passed: nil,
            adapter: 2
        ),
        Row("completed packets", 3, [0x13, 5, 1, 0x40, 0, 3, 0], passed: 13),
        Row("a disconnection", 3, [0x05, 4, 0, 0x40, 0, 0x13], passed: 12),
        Row("another event", 3, [0x3E, 4, 0, 0x40, 0, 0x13], passed: nil),
        Row("the end of the adapter", 1, [], passed: 6),
        Row("an adapter that is switched off", 9, [], passed: 6),
        Row("an adapter that is switched on", 8, [], passed: nil),
        Row("a command", 2, [1, 2, 3, 4], passed: nil),
        Row("data that comes in", 5, [0x40, 0x20, 7, 0, 3, 0, 4, 0, 0x52, 7, 0], passed: nil),
        Row("audio", 6, [0x40, 0x20] + value, passed: nil),
    ]

    private func makeSockets() throws -> (here: OwnedFileDescriptor, there: OwnedFileDescriptor) {
        var descriptors: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &descriptors) == 0)
        return (OwnedFileDescriptor(adopting: descriptors[0]), OwnedFileDescriptor(adopting: descriptors[1]))
    }

    @Test(arguments: rows)
    func theKernelPassesOnWhatIsNeeded(row: Row) throws {
        let (here, there) = try makeSockets()
        try #require(MonitorFilter(adapter: 1).attach(to: there))
        _ = send(here.descriptor, row.frame, row.frame.count, 0)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = recv(there.descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        #expect((count < 0 ? nil : Array(buffer[..<count])) == row.passed.map { Array(row.frame.prefix($0)) })
    }

    @Test func nobodyTakesItOffAgain() throws {
        let (_, socket) = try makeSockets()
        try #require(MonitorFilter(adapter: 1).attach(to: socket))
        var nothing: CInt = 0
        let size = socklen_t(MemoryLayout<CInt>.size)
        #expect(setsockopt(socket.descriptor, SOL_SOCKET, SO_DETACH_FILTER, &nothing, size) == -1)
        #expect(errno == EPERM)
        #expect(!MonitorFilter(adapter: 2).attach(to: socket))
    }
}
