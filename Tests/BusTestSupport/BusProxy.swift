import Glibc
package import PeripheralDBus

/// A way to a bus that breaks when a test wants it to.
///
/// It is an actor of its event loop. On the loop of the client, the client sees all that the proxy does in
/// one turn at once, such as a reply and the end of the connection behind it.
package actor BusProxy {
    /// Where the first connection ends.
    package enum Cut: Sendable {
        /// Right behind a reply to the client, the first of which is 1.
        case behind(reply: Int)
        /// In the middle of it.
        case within(reply: Int)
    }

    /// Where clients reach the bus through this proxy.
    package nonisolated let address: String
    private nonisolated let loop: EventLoop
    private let target: String
    private let cut: Cut?
    private var listener: CInt = -1
    private var source: LoopSource?
    private var links: [ProxyLink] = []
    /// How many connections there have been.
    package private(set) var connectionCount = 0
    /// Whether the first connection has been cut.
    package private(set) var hasCut = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private init(to target: String, on loop: EventLoop, cutting cut: Cut?) {
        self.loop = loop
        self.target = target
        self.cut = cut
        address = "unix:abstract=swift-peripheral-proxy-\(getpid())-\(UInt64.random(in: .min ... .max))"
    }

    /// Runs `body` with a proxy, and leaves nothing behind, whether it throws or not.
    ///
    /// - Parameters:
    ///   - bus: The address of the bus, a path.
    ///   - cut: Where the first connection ends, if it does.
    ///   - body: Given the proxy and its event loop.
    /// - Throws: What the body throws.
    package static func run(
        to bus: String,
        cutting cut: Cut? = nil,
        _ body: (BusProxy, EventLoop) async throws -> Void
    ) async throws {
        let loop = EventLoop()
        let proxy = BusProxy(to: bus, on: loop, cutting: cut)
        let result: Result<Void, any Error>
        do {
            try await proxy.start()
            result = .success(try await body(proxy, loop))
        } catch {
            result = .failure(error)
        }
        await proxy.stop()
        await loop.stop()
        try result.get()
    }

    /// From now on, replaces the name of `sender` by `other` in everything that clients receive.
    ///
    /// Both names must have the same length.
    package func disguise(_ sender: BusName, as other: BusName) {
        for link in links { link.disguise = (Array(sender.text.utf8) + [0], Array(other.text.utf8) + [0]) }
    }

    /// Passes nothing more to the clients of the connections that stand, which stay open.
    package func silence() {
        for link in links { link.isSilent = true }
    }

    private func start() throws {
        guard let listener = socket(to: address, connecting: bind) else { throw CannotListen() }
        self.listener = listener
        listen(listener, 16)
        source = loop.watch(fileDescriptor: listener, events: .readable) { [self] _ in
            assumeIsolated { $0.accept() }
        }
    }

    private func stop() {
        source?.cancel()
        close(listener)
        for link in links { link.end() }
        links = []
    }

    private func accept() {
        let client = Glibc.accept(listener, nil, nil)
        guard client >= 0 else { return }
        guard let bus = socket(to: target, connecting: connect) else {
            close(client)
            return
        }
        connectionCount += 1
        let link = ProxyLink(client: client, bus: bus, cut: connectionCount == 1 ? cut : nil)
        let index = links.count
        links.append(link)
        link.sources = [
            loop.watch(fileDescriptor: client, events: .readable) { [self] _ in
                assumeIsolated { $0.links[index].passOnToBus() }
            },
            loop.watch(fileDescriptor: bus, events: .readable) { [self] _ in
                assumeIsolated { proxy in
                    if proxy.links[index].passOnToClient() { proxy.hasCut = true }
                }
            },
        ]
    }

    private func socket(
        to address: String,
        connecting: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt? {
        let (kind, name) = (address.hasPrefix("unix:abstract="), address.split(separator: "=").last ?? "")
        let bytes = (kind ? [0] : []) + Array(name.utf8)
        let descriptor = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var own = sockaddr_un()
        own.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &own.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let outcome = withUnsafePointer(to: &own) { own in
            own.withMemoryRebound(to: sockaddr.self, capacity: 1) { connecting(descriptor, $0, length) }
        }
        guard outcome == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    package struct CannotListen: Error {}
}

/// One connection through a proxy; belongs to its actor.
private final class ProxyLink {
    private let client: CInt
    private let bus: CInt
    private let cut: BusProxy.Cut?
    /// What the bus has said and the client has not been given, since it is a part of a line or message.
    private var waiting: [UInt8] = []
    /// How many lines of the authentication the bus has said: it accepts, and will pass file descriptors.
    private var lineCount = 0
    private var replyCount = 0
    var isSilent = false
    var disguise: (name: [UInt8], other: [UInt8])?
    var sources: [LoopSource] = []

    init(client: CInt, bus: CInt, cut: BusProxy.Cut?) {
        self.client = client
        self.bus = bus
        self.cut = cut
    }

    func end() {
        guard !sources.isEmpty else { return }
        for source in sources { source.cancel() }
        sources = []
        // A process that another test starts meanwhile may have inherited them.
        for descriptor in [client, bus] {
            shutdown(descriptor, CInt(SHUT_RDWR))
            close(descriptor)
        }
    }

    func passOnToBus() {
        guard let bytes = Self.read(from: client) else { return end() }
        Self.write(bytes, to: bus)
    }

    /// - Returns: Whether the connection is cut by that.
    func passOnToClient() -> Bool {
        guard let bytes = Self.read(from: bus).map(disguised) else {
            end()
            return false
        }
        guard !isSilent else { return false }
        guard let cut else {
            Self.write(bytes, to: client)
            return false
        }
        waiting += bytes
        while let length = lengthOfNext() {
            let next = Array(waiting.prefix(length))
            waiting.removeFirst(length)
            switch cut {
            case .behind(replyCount):
                Self.write(next, to: client)
                end()
                return true
            case .within(replyCount):
                Self.write(next.prefix(length / 2), to: client)
                end()
                return true
            default: Self.write(next, to: client)
            }
        }
        return false
    }

    private func disguised(_ bytes: [UInt8]) -> [UInt8] {
        guard let (name, other) = disguise else { return bytes }
        var bytes = bytes
        for range in bytes.ranges(of: name) { bytes.replaceSubrange(range, with: other) }
        return bytes
    }

    /// The length of the line or message that comes next, once all of it is there.
    private func lengthOfNext() -> Int? {
        guard lineCount == 2 else {
            guard let end = waiting.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            lineCount += 1
            return end + 1
        }
        guard waiting.count >= 16 else { return nil }
        let length = 16 + (integer(at: 12) + 7) / 8 * 8 + integer(at: 4)
        guard waiting.count >= length else { return nil }
        let (methodReturn, error): (UInt8, UInt8) = (2, 3)
        if [methodReturn, error].contains(waiting[1]) { replyCount += 1 }
        return length
    }

    private func integer(at index: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(waiting[index + $1]) << (8 * $1) }
    }

    private static func read(from descriptor: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private static func write(_ bytes: some Sequence<UInt8>, to descriptor: CInt) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
