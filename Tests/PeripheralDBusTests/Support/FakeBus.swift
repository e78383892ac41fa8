import Glibc
import PeripheralDBus
import Synchronization

/// A message bus for one client that does not behave.
///
/// It runs on the client's own loop, so that the client sees all of it in one turn.
///
/// `@unchecked Sendable`: its state is used on the loop alone.
final class FakeBus: @unchecked Sendable {
    enum Greeting {
        case none
        /// It hangs up in the same moment.
        case followedByTheEnd
        /// It takes nothing until ``FakeBus/read()``.
        case followedByAPause
    }

    private static let count = Atomic<Int>(0)

    let address: String
    /// Receives an event when the client greets, and when it hangs up.
    let events = Signal<String>()
    private let loop: EventLoop
    private let greeting: Greeting
    private var listener: CInt
    private var client: CInt = -1
    private var source: LoopSource?
    private var received: [UInt8] = []
    private var isAuthenticated = false

    private init(on loop: EventLoop, greeting: Greeting) {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        let name = "swift-peripheral-fake-bus-\(getpid())-\(number)"
        self.loop = loop
        self.greeting = greeting
        address = "unix:abstract=\(name)"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var socketAddress = sockaddr_un()
        socketAddress.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &socketAddress.sun_path) { path in
            for (index, byte) in ([0] + Array(name.utf8)).enumerated() { path[index] = byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        withUnsafePointer(to: socketAddress) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                precondition(bind(listener, pointer, length) == 0 && listen(listener, 1) == 0)
            }
        }
    }

    /// Runs `body` with such a bus, and leaves nothing behind, whether it throws or not.
    static func run(
        greeting: Greeting,
        _ body: (FakeBus, EventLoop) async throws -> Void
    ) async throws {
        let loop = EventLoop()
        let bus = FakeBus(on: loop, greeting: greeting)
        bus.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(bus, loop))
        } catch {
            result = .failure(error)
        }
        await bus.stop()
        await loop.stop()
        try result.get()
    }

    private func start() {
        loop.execute { [self] in
            source = loop.watch(fileDescriptor: listener, events: .readable) { [self] _ in accept() }
        }
    }

    /// Takes and forgets whatever the client sends from here on.
    func read() {
        loop.execute { [self] in
            let client = client
            source = loop.watch(fileDescriptor: client, events: .readable) { _ in
                var buffer = [UInt8](repeating: 0, count: 65536)
                _ = Glibc.read(client, &buffer, buffer.count)
            }
        }
    }

    /// Hangs up.
    func end() {
        loop.execute { self.hangUp() }
    }

    private func stop() async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                hangUp()
                if listener >= 0 { close(listener) }
                listener = -1
                continuation.resume()
            }
        }
    }

    private func accept() {
        client = Glibc.accept(listener, nil, nil)
        source?.cancel()
        source = loop.watch(fileDescriptor: client, events: .readable) { [self] _ in converse() }
    }

    private func converse() {
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, Glibc.read(client, buffer.baseAddress, buffer.count))
        }
        guard !bytes.isEmpty else {
            hangUp()
            return events.send("the client hangs up")
        }
        received += bytes
        while !isAuthenticated, let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: received[..<end], as: UTF8.self)
            received.removeSubrange(...end)
            if line.hasPrefix("\0AUTH") { write("OK 0123456789abcdef0123456789abcdef\r\n".utf8) }
            if line.hasPrefix("NEGOTIATE") { write("AGREE_UNIX_FD\r\n".utf8) }
            if line.hasPrefix("BEGIN") { isAuthenticated = true }
        }
        guard isAuthenticated, received.count >= 16 else { return }
        let serial = Array(received[8..<12])
        received = []
        events.send("the client greets")
        guard greeting != .none else { return }
        write(Self.greeting(to: serial))
        source?.cancel()
        if greeting == .followedByTheEnd { hangUp() }
    }

    /// A method return that carries the unique name `:1.1`.
    private static func greeting(to serial: [UInt8]) -> [UInt8] {
        let (little, methodReturn, noReply, version): (UInt8, UInt8, UInt8, UInt8) = (0x6C, 2, 1, 1)
        let header: [UInt8] = [little, methodReturn, noReply, version, 9, 0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 0]
        let replySerial: [UInt8] = [5, 1, UInt8(ascii: "u"), 0] + serial
        let signature: [UInt8] = [8, 1, UInt8(ascii: "g"), 0, 1, UInt8(ascii: "s"), 0]
        let body: [UInt8] = [4, 0, 0, 0] + Array(":1.1".utf8) + [0]
        return header + replySerial + signature + [0] + body
    }

    private func write(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        _ = Glibc.write(client, bytes, bytes.count)
    }

    private func hangUp() {
        source?.cancel()
        source = nil
        guard client >= 0 else { return }
        // Processes that other tests start meanwhile may have inherited the socket, and would keep it open.
        shutdown(client, Int32(SHUT_RDWR))
        close(client)
        client = -1
    }
}
