import Glibc
import PeripheralCore
import PeripheralDBus
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct LinkMonitorTests {
    /// A notification of an attribute that goes to the controller, and its completion, on one connection.
    private static func frames(of attribute: UInt8) -> [[UInt8]] {
        [
            [4, 0, 0, 0, 12, 0, 0x40, 0, 8, 0, 4, 0, 4, 0, 0x1B, attribute, 0, 1],
            [3, 0, 0, 0, 7, 0, 0x13, 5, 1, 0x40, 0, 1, 0],
        ]
    }

    /// The next look at the links replaces a socket that has failed.
    @Test func aSocketThatFailsIsReplaced() async throws {
        let loop = EventLoop()
        let monitor = MonitorOnLoop(on: loop)
        func sees(_ observation: LinkObservation) async throws {
            try await until { await !monitor.seen.isEmpty }
            #expect(await monitor.takeSeen() == [observation])
        }
        let departed = LinkObservation.completed(attribute: AttributeHandle(rawValue: 7), connection: 0x40)
        await monitor.begin()
        try await monitor.send(Self.frames(of: 7))
        try await sees(departed)

        await monitor.fail()
        try await sees(.missed)
        // While there is no other, each look asks for one.
        await monitor.look()
        await monitor.look()
        #expect(await monitor.openings == 3)
        await monitor.allow()
        await monitor.look()
        try await sees(.missed)
        try await monitor.send(Self.frames(of: 7))
        try await sees(departed)
        await monitor.look()
        #expect(await monitor.openings == 4)

        // One that is closed stays so.
        await monitor.close()
        await monitor.look()
        #expect(await monitor.openings == 4)
        await loop.stop()
    }

    /// A program watches exactly if the kernel gives it the monitor channel.
    ///
    /// Where the tests run, the kernel may have no Bluetooth, and the program may lack the capability. The
    /// test therefore asks the kernel by itself.
    @Test func aProgramWatchesIfTheKernelAllowsIt() async {
        let loop = EventLoop()
        let watches = await withCheckedContinuation { continuation in
            loop.execute {
                let monitor = LinkMonitor(adapter: 0, on: loop) { _ in }
                monitor?.close()
                continuation.resume(returning: monitor != nil)
            }
        }
        #expect(watches == kernelAllowsMonitoring())
        await loop.stop()
    }

    /// Whether a raw HCI socket can be bound to the monitor channel of all adapters.
    private func kernelAllowsMonitoring() -> Bool {
        let descriptor = socket(31, CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 1)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // The family, no adapter (0xFFFF), and the channel 2: struct sockaddr_hci.
        let address: [UInt16] = [31, 0xFFFF, 2]
        return address.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return start.map { bind(descriptor, $0, socklen_t(bytes.count)) == 0 } ?? false
        }
    }
}

/// A monitor whose sockets the test has the other ends of.
private actor MonitorOnLoop {
    private nonisolated let loop: EventLoop
    private var monitor: LinkMonitor?
    private var end: OwnedFileDescriptor?
    private var isAllowed = true
    private(set) var openings = 0
    private(set) var seen: [LinkObservation] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    func begin() {
        monitor = LinkMonitor(
            adapter: 0,
            on: loop,
            opening: { self.assumeIsolated { $0.open() } },
            { observations in self.assumeIsolated { $0.seen += observations } }
        )
    }

    func takeSeen() -> [LinkObservation] {
        defer { seen = [] }
        return seen
    }

    private func open() -> OwnedFileDescriptor? {
        openings += 1
        guard isAllowed else { return nil }
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        end = OwnedFileDescriptor(adopting: ends[1])
        return OwnedFileDescriptor(adopting: ends[0])
    }

    func send(_ frames: [[UInt8]]) throws {
        let end = try #require(end)
        for frame in frames {
            try #require(Glibc.send(end.descriptor, frame, frame.count, 0) == frame.count)
        }
    }

    /// The other end of the socket is gone, and no other can be had.
    func fail() {
        isAllowed = false
        if let end { shutdown(end.descriptor, CInt(SHUT_RDWR)) }
        end = nil
    }

    func allow() { isAllowed = true }
    func look() { _ = monitor?.look() }

    func close() {
        monitor?.close()
    }
}
