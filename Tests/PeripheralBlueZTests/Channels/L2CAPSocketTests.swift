import Glibc
import PeripheralCore
import PeripheralDBus
import PeripheralKit
import Synchronization
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// Channels on pairs of sockets that need no Bluetooth.
@Suite(.timeLimit(.minutes(1)))
struct L2CAPSocketTests {
    /// A channel, and the other end of its socket.
    private final class Pair: Sendable {
        let loop = EventLoop()
        let channel: L2CAPSocket
        let other: OwnedFileDescriptor
        let events = Mutex<[BackendChannelEvent]>([])

        init(mtu: Int = 100, closingTime: Duration = .seconds(5)) throws {
            var ends: [CInt] = [-1, -1]
            let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            channel = L2CAPSocket(
                OwnedFileDescriptor(adopting: ends[0]),
                on: loop,
                receiveMTU: mtu,
                sendMTU: mtu,
                closingTime: closingTime
            )
            other = OwnedFileDescriptor(adopting: ends[1])
            channel.begin { event in self.events.withLock { $0.append(event) } }
        }

        func send(_ packet: [UInt8]) {
            #expect(Glibc.send(other.descriptor, packet, packet.count, 0) == packet.count)
        }

        /// Returns the next packet at the other end; `nil` if there is none, and an empty one at the end.
        func take() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 100_000)
            let count = recv(other.descriptor, &buffer, buffer.count, 0)
            return count < 0 ? nil : Array(buffer.prefix(count))
        }

        func hang() { _ = shutdown(other.descriptor, CInt(SHUT_RDWR)) }
    }

    @Test func packetsArriveInOrder() throws {
        let pair = try Pair()
        for number: UInt8 in 0..<5 { pair.send([number]) }
        for number: UInt8 in 0..<5 { #expect(pair.channel.receive() == .packet([number])) }
        #expect(pair.channel.receive() == .empty)
    }

    @Test func theLoopReportsTheNextPacketOnce() async throws {
        let pair = try Pair()
        #expect(pair.channel.receive() == .empty)
        pair.send([1])
        pair.send([2])
        try await until { pair.events.withLock { $0 == [.input] } }
        #expect(pair.channel.receive() == .packet([1]))
        #expect(pair.channel.receive() == .packet([2]))
        #expect(pair.channel.receive() == .empty)
        pair.send([3])
        try await until { pair.events.withLock { $0 == [.input, .input] } }
    }

    @Test func theEndFollowsTheLastPacket() async throws {
        let pair = try Pair()
        for number: UInt8 in 0..<3 { pair.send([number]) }
        pair.hang()
        for number: UInt8 in 0..<3 { #expect(pair.channel.receive() == .packet([number])) }
        #expect(pair.channel.receive() == .ended)
        #expect(pair.channel.receive() == .ended)
        #expect(pair.channel.send([1]) == .ended)
    }

    @Test func packetsArriveThoughTheCentralHasLeftBefore() throws {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let socket = OwnedFileDescriptor(adopting: ends[0])
        let channel = L2CAPSocket(socket, on: EventLoop(), receiveMTU: 100, sendMTU: 23)
        #expect(send(ends[1], [7] as [UInt8], 1, 0) == 1)
        close(ends[1])
        channel.begin { _ in }
        #expect(channel.receive() == .packet([7]))
        #expect(channel.receive() == .ended)
    }

    @Test func theLoopReportsTheEnd() async throws {
        let pair = try Pair()
        #expect(pair.channel.receive() == .empty)
        pair.hang()
        try await until { pair.events.withLock { $0 == [.input] } }
        #expect(pair.channel.receive() == .ended)
    }

    @Test func fullSocketReportsRoomLater() async throws {
        let pair = try Pair()
        var sent = 0
        while pair.channel.send([UInt8(truncatingIfNeeded: sent)]) == .sent { sent += 1 }
        #expect(pair.channel.send([0]) == .full)
        #expect(pair.events.withLock { $0 } == [])
        for number in 0..<sent { #expect(pair.take() == [UInt8(truncatingIfNeeded: number)]) }
        try await until { pair.events.withLock { $0 == [.output] } }
        #expect(pair.channel.send([0]) == .sent)
    }

    @Test func packetThatNeverFitsIsRefused() throws {
        let pair = try Pair(mtu: 1_000_000)
        // The send buffer of the kernel is smaller, so the packet never fits.
        #expect(pair.channel.send([UInt8](repeating: 0, count: 1_000_000)) == .tooLong)
        #expect(pair.channel.send([2]) == .sent)
    }

    @Test func closedChannelStillSendsWhatItHas() async throws {
        let pair = try Pair()
        for number: UInt8 in 0..<3 { #expect(pair.channel.send([number]) == .sent) }
        pair.channel.close()
        #expect(pair.channel.send([9]) == .ended)
        #expect(pair.channel.receive() == .ended)
        #expect(pair.events.withLock { $0 } == [])
        for number: UInt8 in 0..<3 { #expect(pair.take() == [number]) }
        try await until { pair.take() == [] }
        try await until { pair.events.withLock { $0 == [.closed] } }
    }

    @Test func closedChannelWaitsForALimitedTime() async throws {
        let pair = try Pair(closingTime: .milliseconds(50))
        #expect(pair.channel.send([1]) == .sent)
        pair.channel.close()
        // The other end takes nothing.
        try await until { pair.events.withLock { $0 == [.closed] } }
        #expect(pair.take() == [1])
        #expect(pair.take() == [])
    }

    @Test func closedChannelReportsThisOnce() async throws {
        let pair = try Pair()
        pair.channel.close()
        pair.channel.abort()
        pair.channel.close()
        try await until { pair.events.withLock { $0 == [.closed] } }
        pair.channel.abort()
        await withCheckedContinuation { continuation in pair.loop.execute { continuation.resume() } }
        #expect(pair.events.withLock { $0 } == [.closed])
    }

    @Test func abortedChannelIsClosedAtOnce() async throws {
        let pair = try Pair()
        #expect(pair.channel.send([1]) == .sent)
        pair.channel.abort()
        try await until { pair.take() == [] }
        #expect(pair.channel.receive() == .ended)
    }

    @Test(arguments: [
        (2 * 65_536, 2048, 2048), (425_984, 4096, 4096), (425_984, 65_535, 11_832),
        (36 * 65_535, 65_535, 65_535),
        (4096, 2048, 113), (100, 2048, 23), (100, 23, 23),
    ])
    func packetsFitIntoTheBuffer(size: Int, mtu: Int, longest: Int) {
        #expect(L2CAPOptions.longestPacket(inBufferOf: size, mtu: mtu) == longest)
    }

    /// A reader that is woken before the loop has closed the socket must not wait again.
    @Test func abortedChannelHasEndedAtOnce() throws {
        let pair = try Pair()
        pair.send([1])
        pair.channel.abort()
        #expect(pair.channel.receive() == .ended)
        #expect(pair.channel.send([1]) == .ended)
    }

    @Test func addressHasTheFormOfTheKernel() throws {
        let address = try #require(DeviceAddress("00:AA:01:02:03:04"))
        let encoded = L2CAPAddress(address, psm: 0x00C5)
        #expect(encoded.bytes == [31, 0, 0xC5, 0, 4, 3, 2, 1, 0xAA, 0, 0, 0, 1, 0])
        #expect(encoded.psm == 0xC5)
        #expect(encoded.address == address)
    }
}
