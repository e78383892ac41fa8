import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct WriteStreamTests {
    private let upload = Characteristic<UInt16>(0x2A3D, .write) { WriteStream(capacity: 2) }
    private let level = Characteristic<UInt8>(0x2A19, .read) { Read { 1 } }

    private var peripheral: Peripheral {
        Peripheral("Upload") {
            GATTService(0x180F) {
                upload; level
            }
        }
    }

    @Test func writesComeInTheirOrderWithTheirCentral() async throws {
        try await peripheral.test { central, session in
            let second = central.makeAnother()
            try await second.connect()
            var writes = try session.writes(to: upload).makeAsyncIterator()
            try await central.write(upload, 1)
            try await second.write(upload, 2)
            let first = try #require(await writes.next())
            let next = try #require(await writes.next())
            #expect([first.value, next.value] == [1, 2])
            #expect(first.central != next.central)
            #expect(session.centrals == [first.central, next.central])
        }
    }

    /// The answer to a write request waits for room: a central cannot write faster than the program takes.
    @Test func aFullBufferHoldsUpTheCentral() async throws {
        try await peripheral.test { central, session in
            let answered = Log<UInt16>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number: UInt16 in 1...5 {
                        try await central.write(upload, number)
                        answered.append(number)
                    }
                }
                var writes = try session.writes(to: upload).makeAsyncIterator()
                for number: UInt16 in 1...5 {
                    #expect(await writes.next()?.value == number)
                    // The one that is taken, two in the buffer, and one whose turn it is with the freed
                    // place.
                    #expect(answered.entries.count <= Int(number) + 2)
                }
                try await group.waitForAll()
            }
            #expect(answered.entries == [1, 2, 3, 4, 5])
        }
    }

    @Test func whatIsNoValueIsRefusedBefore() async throws {
        try await peripheral.test { central, session in
            let characteristics = try await central.knownDatabase().services.flatMap(\.characteristics)
            let handle = try #require(characteristics.first { $0.uuid == upload.uuid }?.valueHandle)
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(handle, [1])
            }
            try await central.write(upload, 7)
            var writes = try session.writes(to: upload).makeAsyncIterator()
            #expect(await writes.next()?.value == 7)
        }
    }

    @Test func withoutAStreamThereAreNoWrites() async throws {
        try await peripheral.test { _, session in
            let error = #expect(throws: PeripheralError.self) { try session.writes(to: level) }
            #expect(error?.code == .notDeclared)
        }
    }

    @Test func whatIsInTheBufferCanBeTakenAfterTheEnd() async throws {
        let writes = try await peripheral.test { central, session in
            try await central.write(upload, 1)
            try await central.write(upload, 2)
            return try session.writes(to: upload)
        }
        var taken: [UInt16] = []
        for await write in writes { taken.append(write.value) }
        #expect(taken == [1, 2])
    }

    @Test func aWriteThatFindsNoRoomInTimeIsRefusedAndNotTaken() async throws {
        let clock = ManualClock()
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend, logger: .silent, clock: clock) { session in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            try await central.write(upload, 1)
            try await central.write(upload, 2)
            let answer = Log<ATTError?>()
            let third = Task {
                do {
                    try await central.write(upload, 3)
                    answer.append(nil)
                } catch {
                    answer.append(error as? ATTError)
                }
            }
            try await until {
                clock.advance(by: .seconds(1))
                return !answer.entries.isEmpty
            }
            await third.value
            #expect(answer.entries == [.unlikelyError])
            var writes = try session.writes(to: upload).makeAsyncIterator()
            for number: UInt16 in 1...2 { #expect(await writes.next()?.value == number) }
            try await central.write(upload, 4)
            #expect(await writes.next()?.value == 4)
        }
    }

    /// A central whose write was answered relies on the program to get it.
    @Test func aReaderThatIsCancelledLeavesTheWritesToTheNext() async throws {
        try await peripheral.test { central, session in
            let taken = Log<UInt16>()
            let cancelled = Task {
                for await write in try session.writes(to: upload) { taken.append(write.value) }
            }
            try await central.write(upload, 1)
            await taken.untilNotEmpty()
            cancelled.cancel()
            try await cancelled.value
            try await central.write(upload, 2)
            try await central.write(upload, 3)
            var writes = try session.writes(to: upload).makeAsyncIterator()
            #expect(await writes.next()?.value == 2)
            #expect(await writes.next()?.value == 3)
        }
    }

    @Test func eachWriteGoesToOneOfSeveralReaders() async throws {
        let taken = Log<UInt16>()
        try await peripheral.test { central, session in
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for await write in try session.writes(to: upload) { taken.append(write.value) }
                    }
                }
                for number: UInt16 in 0..<100 { try await central.write(upload, number) }
                try await until { taken.entries.count >= 100 }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        #expect(taken.entries.sorted() == Array(0..<100))
    }

    @Test func aWriteThatWaitsAtTheEndIsNoFaultOfAHandler() async throws {
        let log = LogRecorder()
        let refusal = try await peripheral.test(logger: log.logger) { central, session in
            try await central.write(upload, 1)
            try await central.write(upload, 2)
            let third = Task { try await central.write(upload, 3) }
            let buffer = try session.writes(to: upload).buffer
            try await until { buffer.waiting.writers > 0 }
            return third
        }
        await #expect(throws: (any Error).self) { try await refusal.value }
        #expect(log.lines.filter { !$0.hasPrefix("debug") } == [])
    }

    /// A central goes on after a write without response, whatever the program does with it.
    @Test func aWriteWithoutResponseDoesNotWaitForRoom() async throws {
        let commands = Characteristic<UInt16>(0x2A3E, .writeWithoutResponse) { WriteStream(capacity: 2) }
        let peripheral = Peripheral("Commands") { GATTService(0x180F) { commands } }
        let log = LogRecorder()
        try await peripheral.test(logger: log.logger) { central, session in
            // Two in the buffer, 256 behind it, and three too many.
            for number: UInt16 in 0..<261 { try await central.writeWithoutResponse(commands, number) }
            // A slow machine also logs handlers that block their thread.
            #expect(log.lines.count { $0.contains("the central writes faster") } == 3)
            var writes = try session.writes(to: commands).makeAsyncIterator()
            for number: UInt16 in 0..<258 { #expect(await writes.next()?.value == number) }
        }
    }

    /// What waits for room may wait for ever, and a read for 4 seconds.
    @Test func aReadDoesNotWaitForRoomForWhatWasWrittenBefore() async throws {
        let commands = Characteristic<UInt8>(0x2A3E, [.read, .writeWithoutResponse]) {
            Read { 7 }
            WriteStream(capacity: 1)
        }
        try await Peripheral("Commands") { GATTService(0x180F) { commands } }.test { central, session in
            for number: UInt8 in 0..<3 { try await central.writeWithoutResponse(commands, number) }
            #expect(try await central.read(commands) == 7)
            var writes = try session.writes(to: commands).makeAsyncIterator()
            for number: UInt8 in 0..<3 { #expect(await writes.next()?.value == number) }
        }
    }
}
