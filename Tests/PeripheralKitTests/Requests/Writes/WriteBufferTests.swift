import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct WriteBufferTests {
    private let buffer = WriteBuffer(capacity: 2)

    private static func write(_ number: UInt8) -> WriteBuffer.Write {
        WriteBuffer.Write(value: [number], central: Central(address: .numbered(1)))
    }

    private func untilWriters(_ count: Int) async throws {
        try await until { buffer.waiting.writers >= count }
    }

    private func untilReaders(_ count: Int) async throws {
        try await until { buffer.waiting.readers >= count }
    }

    @Test func writesWaitForRoomInTheirOrder() async throws {
        try await buffer.append(Self.write(0))
        try await buffer.append(Self.write(1))
        try await withThrowingTaskGroup { group in
            for number: UInt8 in 2..<5 {
                group.addTask { try await buffer.append(Self.write(number)) }
                try await untilWriters(Int(number) - 1)
            }
            for number: UInt8 in 0..<5 { #expect(await buffer.next()?.value == [number]) }
            try await group.waitForAll()
        }
    }

    @Test func thoseWhoReadAtOnceAreServedInTheirOrder() async throws {
        let order = Log<[UInt8]>()
        try await withThrowingTaskGroup { group in
            for reader: UInt8 in 0..<3 {
                group.addTask {
                    let write = await buffer.next()
                    order.append([reader] + (write?.value ?? []))
                }
                try await untilReaders(Int(reader) + 1)
            }
            for number: UInt8 in 0..<3 { try await buffer.append(Self.write(number)) }
            try await group.waitForAll()
        }
        #expect(order.entries.sorted { $0[0] < $1[0] } == [[0, 0], [1, 1], [2, 2]])
    }

    @Test func aReaderThatIsCancelledTakesNothing() async throws {
        let waiting = Task { await buffer.next() }
        try await untilReaders(1)
        waiting.cancel()
        #expect(await waiting.value == nil)
        try await buffer.append(Self.write(1))
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await buffer.next()
        }
        #expect(await late.value == nil)
        #expect(await buffer.next()?.value == [1])
    }

    @Test func aWriterThatIsCancelledLeavesNothing() async throws {
        try await buffer.append(Self.write(0))
        try await buffer.append(Self.write(1))
        let cancelled = Task { try await buffer.append(Self.write(2)) }
        try await untilWriters(1)
        cancelled.cancel()
        await #expect(throws: ATTError.unlikelyError) { try await cancelled.value }
        for number: UInt8 in 0..<2 { #expect(await buffer.next()?.value == [number]) }
        try await buffer.append(Self.write(3))
        #expect(await buffer.next()?.value == [3])
    }

    @Test func theEndRefusesWhoWaitsForRoomAndKeepsTheRest() async throws {
        try await buffer.append(Self.write(0))
        try await buffer.append(Self.write(1))
        let waiting = Task { try await buffer.append(Self.write(2)) }
        try await untilWriters(1)
        buffer.finish()
        await #expect(throws: ATTError.unlikelyError) { try await waiting.value }
        await #expect(throws: ATTError.unlikelyError) { try await buffer.append(Self.write(3)) }
        for number: UInt8 in 0..<2 { #expect(await buffer.next()?.value == [number]) }
        #expect(await buffer.next() == nil)
    }

    @Test func theEndSendsReadersAway() async throws {
        let waiting = Task { await buffer.next() }
        try await untilReaders(1)
        buffer.finish()
        #expect(await waiting.value == nil)
    }

    /// Writers and readers of which some are cancelled: what was answered is taken, by one reader.
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func nothingIsLostOrTakenTwice(seed: UInt64) async throws {
        let answered = Log<UInt8>()
        let taken = Log<UInt8>()
        var random = SeededGenerator(seed: seed)
        let readers = (0..<64).map { _ in
            Task {
                while let write = await buffer.next() { taken.append(write.value[0]) }
            }
        }
        let writers = (0..<UInt8.max).map { number in
            Task {
                try await buffer.append(Self.write(number))
                answered.append(number)
            }
        }
        for task in readers.dropFirst().shuffled(using: &random) {
            if Bool.random(using: &random), let writer = writers.randomElement(using: &random) {
                writer.cancel()
            }
            task.cancel()
            await Task.yield()
        }
        for writer in writers { _ = await writer.result }
        buffer.finish()
        for reader in readers { await reader.value }
        #expect(taken.entries.sorted() == answered.entries.sorted(), "seed \(seed)")
    }
}
