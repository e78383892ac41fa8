import PeripheralCore
import PeripheralTesting
import Synchronization
import Testing

@testable import PeripheralKit

/// What becomes of a persistent value whose declaration has changed.
@Suite(.timeLimit(.minutes(1)))
final class RestoredValueTests: Sendable {
    private static let identifier = "com.example.dial"
    private static let uuid: BluetoothUUID = "5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001"

    private let store = InMemoryRestorationStore()
    private let problems = Mutex<[[RestorationProblem]]>([])
    private let number = Characteristic<UInt8>(uuid, [.read, .write]) { PersistentValue(initially: 0) }
    private let flag = Characteristic<Bool>(uuid, [.read, .write]) { PersistentValue(initially: true) }

    /// Runs a peripheral whose `onRestore` asks for the value.
    private func run<Value, Output: Sendable>(
        _ characteristic: Characteristic<Value>,
        _ body: @escaping @Sendable (PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let peripheral = Peripheral("Dial", restorationIdentifier: Self.identifier) {
            GATTService(.battery) { characteristic }
        } onRestore: { [self] restored in
            problems.withLock { $0.append(restored.problems) }
            _ = try restored.value(of: characteristic)
        }
        return try await peripheral.run(
            on: InMemoryBackend(),
            restoringFrom: store,
            savingEvery: .zero,
            logger: .silent,
            body
        )
    }

    /// A value that a central and the program change.
    @Test func aSequenceOfValuesContainsEachChange() async throws {
        try await run(number) { [number] session in try await session.set(number, to: 7) }
        let peripheral = Peripheral("Dial", restorationIdentifier: Self.identifier) {
            GATTService(.battery) { number }
        }
        let memory = InMemoryBackend()
        try await peripheral.run(on: memory, restoringFrom: store, logger: .silent) { [number] session in
            var values = try session.values(of: number).makeAsyncIterator()
            #expect(try await values.next() == 7)
            let central = memory.makeCentral(of: peripheral)
            try await central.connect()
            try await central.write(number, 8)
            try await session.set(number, to: 9)
            // No change.
            try await session.set(number, to: 9)
            try await central.write(number, 10)
            for value in 8...10 as ClosedRange<UInt8> { #expect(try await values.next() == value) }
            var later = try session.values(of: number).makeAsyncIterator()
            #expect(try await later.next() == 10)
        }
    }

    @Test func aSequenceOfValuesEndsWithItsServiceOrTheSession() async throws {
        let added = Characteristic<UInt8>(0x2A6E, [.read, .write]) { PersistentValue(initially: 1) }
        let service = GATTService(0x181A) { added }
        let kept = try await run(number) { [number] session in
            try await session.add { service }
            var values = try session.values(of: added).makeAsyncIterator()
            #expect(try await values.next() == 1)
            try await session.remove(service)
            #expect(try await values.next() == nil)
            #expect(throws: PeripheralError.self) { try session.values(of: added) }
            // It begins again with the service.
            try await session.add { service }
            values = try session.values(of: added).makeAsyncIterator()
            #expect(try await values.next() == 1)
            return try session.values(of: number)
        }
        var values = kept.makeAsyncIterator()
        #expect(try await values.next() == 0)
        #expect(try await values.next() == nil)
    }

    @Test func onlyPersistentValuesHaveASequence() async throws {
        let constant = Characteristic<UInt8>(0x2A6E, value: 1)
        try await run(constant) { session in
            _ = #expect(throws: PeripheralError.self) { try session.values(of: constant) }
        }
    }

    @Test func aValueOfAnotherTypeIsToldAndTheInitialOneServed() async throws {
        try await run(number) { [number] session in try await session.set(number, to: 7) }
        // Each run reports the problem until the program or a central sets the value.
        for value in [nil, true] {
            try await run(flag) { [flag] session async throws in
                let restored = try #require(session.restored)
                #expect(try restored.value(of: flag) == value)
                #expect(try session.value(of: flag) == true)
                let problem = try #require(restored.problems.first)
                #expect(problem.operation == .value && problem.error.code == .incompatible)
                #expect(problem.description.contains("characteristic \(Self.uuid) of service 180f"))
                #expect(restored.problems.count == 1 && !restored.isEmpty)
                var events = session.events.makeAsyncIterator()
                guard case .restorationFailed(problem) = try await events.next() else {
                    Issue.record("it is not told first")
                    return
                }
            }
        }
        #expect(problems.withLock { $0.map(\.count) } == [1, 1])
    }

    @Test func aValueOfAnotherLengthIsToldAndTheInitialOneServed() async throws {
        try await run(number) { [number] session in try await session.set(number, to: 7) }
        let long = Characteristic<[UInt8]>(Self.uuid, [.read, .write], length: .exactly(2)) {
            PersistentValue(initially: [1, 2])
        }
        try await run(long) { session async throws in
            #expect(try session.restored?.value(of: long) == nil)
            #expect(session.restored?.problems.map(\.operation) == [.value])
            #expect(try session.value(of: long) == [1, 2])
        }
    }

    @Test func theDeclarationOfBeforeFindsItsValue() async throws {
        try await run(number) { [number] session in try await session.set(number, to: 7) }
        try await run(flag) { session in try await session.preserve() }
        try await run(number) { [number] session async throws in
            #expect(try session.value(of: number) == 7)
            #expect(try session.restored?.value(of: number) == 7)
            #expect(session.restored?.problems.isEmpty == true)
        }
        // It is the value again, and nothing besides.
        try await run(number) { [number] session async throws in
            #expect(try session.value(of: number) == 7)
            try await session.set(number, to: 8)
        }
        try await run(number) { [number] session async throws in
            #expect(try session.value(of: number) == 8)
        }
    }

    @Test func aValueThatWasGivenSinceIsNotReplacedByAnOlderOne() async throws {
        try await run(number) { [number] session in try await session.set(number, to: 7) }
        try await run(flag) { [flag] session in try await session.set(flag, to: false) }
        try await run(flag) { [flag] session async throws in
            #expect(session.restored?.problems.isEmpty == true)
            #expect(try session.value(of: flag) == false)
        }
        try await run(number) { [number] session async throws in
            #expect(try session.value(of: number) == 0)
        }
    }

    /// Bytes without a type take whatever is preserved: what the value was last, not what it was before.
    @Test func aPeripheralFromWhatIsPreservedTakesTheLastValue() async throws {
        try await run(number) { [number] session in try await session.set(number, to: 7) }
        try await run(flag) { session in try await session.preserve() }
        let preserved = try #require(try await PreservedPeripheral(Self.identifier, in: store))
        try await Peripheral(restoring: preserved).run(
            on: InMemoryBackend(),
            restoringFrom: store,
            logger: .silent
        ) { session in
            #expect(session.restored?.problems.isEmpty == true)
            try await session.preserve()
        }
        let state = try PreservedState(decoding: try #require(store[Self.identifier]))
        #expect(Array(state.values.values) == [[1]] && Array(state.formerValues.values) == [[7]])
    }
}
