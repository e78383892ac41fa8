import PeripheralCore
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// Calls that wait for a channel whose other end is part of the test.
@Suite(.timeLimit(.minutes(1)))
struct L2CAPChannelTests {
    /// A channel that has room and packets as the test decides.
    private final class Stub: BackendChannel {
        private struct State {
            var report: (@Sendable (BackendChannelEvent) -> Void)?
            var input: [BackendChannelInput] = []
            var room = 0
            var sent: [[UInt8]] = []
            /// How often the host has found neither a packet nor room.
            var waits = 0
            var hasEnded = false
        }

        let receiveMTU = 100
        let sendMTU = 100
        private let state = Mutex(State())

        var sent: [[UInt8]] { state.withLock(\.sent) }
        var waits: Int { state.withLock(\.waits) }

        func begin(_ report: @escaping @Sendable (BackendChannelEvent) -> Void) {
            state.withLock { $0.report = report }
        }

        func receive() -> BackendChannelInput {
            state.withLock { state in
                if !state.input.isEmpty { return state.input.removeFirst() }
                if state.hasEnded { return .ended }
                state.waits += 1
                return .empty
            }
        }

        func send(_ packet: [UInt8]) -> BackendChannelOutput {
            state.withLock { state in
                if state.hasEnded { return .ended }
                guard state.room > 0 else {
                    state.waits += 1
                    return .full
                }
                state.room -= 1
                state.sent.append(packet)
                return .sent
            }
        }

        func close() { abort() }

        func abort() { state.withLock { $0.hasEnded = true } }

        func add(_ packet: [UInt8]) {
            let report = state.withLock { state in
                state.input.append(.packet(packet))
                return state.report
            }
            report?(.input)
        }

        func makeRoom(_ packets: Int) {
            let report = state.withLock { state in
                state.room += packets
                return state.report
            }
            report?(.output)
        }
    }

    private let stub = Stub()
    private let channel: L2CAPChannel

    init() {
        let (input, output) = (Wakeup(), Wakeup())
        stub.begin { event in
            switch event {
            case .input: input.wake()
            case .output: output.wake()
            case .closed: break
            }
        }
        channel = L2CAPChannel(
            stub,
            of: Central(address: .numbered(1)),
            psm: 0x80,
            input: input,
            output: output
        )
    }

    @Test func cancelledSendThatWaitsSendsNothing() async throws {
        let sending = Task { [channel] in try await channel.send([1]) }
        try await until { stub.waits == 1 }
        #expect(try !channel.trySend([2]))
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        stub.makeRoom(1)
        try await channel.send([3])
        #expect(stub.sent == [[3]])
    }

    @Test func cancelledReaderThatWaitsTakesNothing() async throws {
        let reading = Task { [channel] in await channel.first { _ in true } }
        try await until { stub.waits == 1 }
        reading.cancel()
        #expect(await reading.value == nil)
        stub.add([1])
        #expect(await channel.first { _ in true } == [1])
    }

    @Test func emptyPacketsAreIgnored() async throws {
        stub.add([])
        stub.add([])
        stub.add([1])
        #expect(await channel.first { _ in true } == [1])
    }

    @Test func concurrentCallsSendInOrder() async throws {
        var tasks: [Task<Void, any Error>] = []
        for number: UInt8 in 0..<5 {
            let task = Task.immediate { [channel] in try await channel.send([number]) }
            tasks.append(task)
        }
        #expect(stub.sent == [])
        stub.makeRoom(5)
        for task in tasks { try await task.value }
        #expect(stub.sent == [[0], [1], [2], [3], [4]])
    }

    @Test func endWakesAllCallsThatWait() async throws {
        let sending = Task { [channel] in try await channel.send([1]) }
        let reading = Task { [channel] in await channel.first { _ in true } }
        try await until { stub.waits == 2 }
        channel.end()
        let error = await #expect(throws: PeripheralError.self) { try await sending.value }
        #expect(error?.code == .disconnected)
        #expect(await reading.value == nil)
    }

    @Test(arguments: [0, 101])
    func packetOfAnotherLengthIsRefused(length: Int) async throws {
        let error = await #expect(throws: PeripheralError.self) {
            try await channel.send([UInt8](repeating: 0, count: length))
        }
        #expect(error?.code == .invalidValue)
        #expect(stub.sent == [])
    }
}
