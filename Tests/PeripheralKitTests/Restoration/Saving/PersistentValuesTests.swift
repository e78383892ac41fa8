import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// What several centrals make of one value.
@Suite(.timeLimit(.minutes(1)))
struct PersistentValuesTests {
    private static let handle = AttributeHandle(rawValue: 3)

    @Test func oneHandlerRunsAfterTheOther() async throws {
        let log = Log<String>()
        let values = PersistentValues(
            [Self.handle: PersistentValue<UInt8>(initially: 0).declaration],
            values: [:],
            preservation: nil
        ) { _, value in
            log.append("sent \(value)")
        }
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        async let first: Void = values.write([1], to: Self.handle) {
            log.append("first begins")
            for await _ in gate { break }
            log.append("first ends")
            return []
        }
        await log.untilNotEmpty()
        async let second: Void = values.write([2], to: Self.handle) {
            log.append("second")
            return []
        }
        // Every opportunity to come in between.
        for _ in 0..<100 { await Task.yield() }
        opener.finish()
        try await first
        try await second
        #expect(log.entries == ["first begins", "first ends", "sent [1]", "second", "sent [2]"])
        #expect(values[Self.handle] == [2])
    }

    @Test func whatAHandlerRefusesIsNotTaken() async throws {
        let values = PersistentValues(
            [Self.handle: PersistentValue<UInt8>(initially: 0).declaration],
            values: [:],
            preservation: nil
        ) { _, _ in
            Issue.record("it is sent")
        }
        await #expect(throws: ATTError.valueNotAllowed) {
            try await values.write([1], to: Self.handle) { throw ATTError.valueNotAllowed }
        }
        #expect(values[Self.handle] == [0])
    }

    /// What is saved together is sent in the order in which it was written, the one that hears first that it
    /// is saved.
    @Test func whatIsSavedTogetherIsSentInOrder() async throws {
        let peripheral = Peripheral("Numbers", restorationIdentifier: "numbers") {
            GATTService(.battery) {
                Characteristic<UInt8>(0x2A1A, .write) { PersistentValue(initially: 0, writes: .durable) }
            }
        }
        let declared = DeclaredState(peripheral, table: try peripheral.publication().table)
        let handle = try #require(declared.persistentValues.keys.first)
        let start = try await RestorationStart(of: declared, under: "numbers", in: InMemoryRestorationStore())
        let preservation = Preservation(
            start,
            savingEvery: .zero,
            clock: ContinuousClock(),
            wallClock: { 0 },
            logger: .silent
        ) { _ in
        }
        let log = Log<[UInt8]>()
        let values = PersistentValues(
            declared.persistentValues.mapValues(\.declaration),
            values: [:],
            preservation: preservation
        ) { _, value in
            log.append(value)
        }
        let executor = ReversingExecutor()
        let writes = ([[1], [2]] as [[UInt8]]).map { value in
            let write = Task(executorPreference: executor) {
                try await values.write(value, to: handle) { [] }
            }
            executor.runAll()
            return write
        }
        // Both wait for the same save.
        let keeper = Task { await preservation.keepSaving() }
        try await until { executor.count == 2 }
        executor.runAll()
        for write in writes { try await write.value }
        #expect(log.entries == [[1], [2]])
        preservation.stop()
        await keeper.value
    }
}

/// An executor that keeps its jobs until `runAll`, and then runs the newest first.
private final class ReversingExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    var count: Int { jobs.withLock(\.count) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func runAll() {
        while let job = jobs.withLock({ $0.popLast() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
