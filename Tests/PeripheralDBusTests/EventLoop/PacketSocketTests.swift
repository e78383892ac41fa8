import Glibc
import PeripheralDBus
import TestSupport
import Testing

/// The end that belongs to the loop.
private actor OwnEnd {
    enum Event: Hashable {
        case packet([UInt8])
        case closed
    }

    nonisolated let loop: EventLoop
    nonisolated let events = Signal<Event>()
    private var socket: PacketSocket?
    /// The outcome of each packet, with its number, in the order of the reports.
    private(set) var outcomes: [(number: Int, isTaken: Bool)] = []

    init(on loop: EventLoop) {
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Makes the pair, and returns the other end.
    func open() -> OwnedFileDescriptor? {
        let pair = PacketSocket.pair(on: loop) { [events] event in
            switch event {
            case .packet(let bytes): events.send(.packet(bytes))
            case .closed: events.send(.closed)
            }
        }
        socket = pair?.own
        return pair?.other
    }

    func send(_ numbers: Range<Int>) {
        for number in numbers {
            guard let socket else { return }
            if let isTaken = socket.send(OwnEnd.packet(number)) {
                outcomes.append((number, isTaken))
                continue
            }
            socket.sendLater(OwnEnd.packet(number)) { isTaken in
                self.assumeIsolated { $0.outcomes.append((number, isTaken)) }
            }
        }
    }

    func close() {
        socket?.close()
    }

    static func packet(_ number: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }
}

@Suite(.timeLimit(.minutes(1)))
struct PacketSocketTests {
    /// More packets than a socket holds.
    private static let many = 1_000

    private static func run(_ body: (OwnEnd, OwnedFileDescriptor) async throws -> Void) async throws {
        let loop = EventLoop()
        let own = OwnEnd(on: loop)
        let result: Result<Void, any Error>
        do {
            let other = try #require(await own.open())
            result = .success(try await body(own, other))
        } catch {
            result = .failure(error)
        }
        await own.close()
        await loop.stop()
        try result.get()
    }

    private static func receive(from descriptor: OwnedFileDescriptor) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = recv(descriptor.descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    private static func send(_ bytes: [UInt8], to descriptor: OwnedFileDescriptor) {
        #expect(Glibc.send(descriptor.descriptor, bytes, bytes.count, 0) == bytes.count)
    }

    @Test func packetsKeepTheirOrderAcrossAFullSocket() async throws {
        try await Self.run { own, other in
            await own.send(0..<Self.many)
            // The other end has not read yet, so the rest is queued.
            let taken = await own.outcomes.count
            #expect(0 < taken && taken < Self.many)
            var received: [[UInt8]] = []
            while received.count < Self.many {
                guard let packet = Self.receive(from: other) else {
                    try Task.checkCancellation()
                    await Task.yield()
                    continue
                }
                received.append(packet)
            }
            #expect(received == (0..<Self.many).map(OwnEnd.packet))
            #expect(Self.receive(from: other) == nil)
            let outcomes = await own.outcomes
            #expect(outcomes.map(\.number) == Array(0..<Self.many))
            #expect(!outcomes.contains { !$0.isTaken })
        }
    }

    @Test func anEmptyPacketIsNotTheEnd() async throws {
        try await Self.run { own, other in
            Self.send([], to: other)
            #expect(await own.events.next() == .packet([]))
            Self.send([1, 2], to: other)
            #expect(await own.events.next() == .packet([1, 2]))
            shutdown(other.descriptor, CInt(SHUT_RDWR))
            #expect(await own.events.next() == .closed)
        }
    }

    @Test func whatWasSentBeforeTheEndArrives() async throws {
        try await Self.run { own, other in
            for number: UInt8 in 0..<100 { Self.send([number], to: other) }
            shutdown(other.descriptor, CInt(SHUT_RDWR))
            for number: UInt8 in 0..<100 { #expect(await own.events.next() == .packet([number])) }
            #expect(await own.events.next() == .closed)
        }
    }

    @Test func closingGivesUpWhatIsQueued() async throws {
        try await Self.run { own, other in
            await own.send(0..<Self.many)
            let taken = await own.outcomes.count
            await own.close()
            let outcomes = await own.outcomes
            #expect(outcomes.map(\.number) == Array(0..<Self.many))
            #expect(outcomes.map(\.isTaken) == (0..<Self.many).map { $0 < taken })
            for number in 0..<taken { #expect(Self.receive(from: other) == OwnEnd.packet(number)) }
            // The end; for an instant, a process that another test starts has this one open, too.
            try await until { Self.receive(from: other) == [] }
        }
    }

    /// A child process has the socket open from its start until it runs its program.
    ///
    /// Here, another descriptor stands for that of the child.
    @Test func theOtherEndSeesTheCloseWhileAnotherProcessHasTheSocketOpen() async throws {
        // Where nothing else opens files.
        await #expect(processExitsWith: .success) {
            let loop = EventLoop()
            let own = OwnEnd(on: loop)
            let before = openSockets()
            let other = try #require(await own.open())
            let opened = openSockets().subtracting(before).subtracting([other.descriptor])
            let copies = opened.map { dup($0) }
            try #require(copies.count == 1)
            await own.close()
            let bytes = Self.receive(from: other)
            try #require(bytes == [])
            await loop.stop()
        }
    }

    @Test func nothingIsTakenAfterTheEnd() async throws {
        try await Self.run { own, other in
            shutdown(other.descriptor, CInt(SHUT_RDWR))
            #expect(await own.events.next() == .closed)
            await own.send(0..<2)
            #expect(await own.outcomes.map(\.isTaken) == [false, false])
        }
    }

    /// bluetoothd writes to its end, and must not be stopped by a program that does not read.
    @Test func theOtherEndDoesNotBlock() async throws {
        try await Self.run { _, other in
            #expect(fcntl(other.descriptor, F_GETFL) & O_NONBLOCK != 0)
        }
    }
}

/// The descriptors of the process that are sockets.
private func openSockets() -> Set<CInt> {
    Set(
        (0..<256 as Range<CInt>).filter { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    )
}
