import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// What a handler can do with the session; the conformance suite contains the tests of its calls.
@Suite(.timeLimit(.minutes(1)))
struct SessionInHandlersTests {
    @Test func eachHandlerReceivesTheSessionOfItsRun() async throws {
        let result = Characteristic<String>(0x2A3D, .notify)
        let value = Characteristic<UInt8>(0x2A19, [.read, .write]) {
            Read { _, session in
                try await session.notify(result, "read")
                return 1
            }
            Write { _, _, session in try await session.notify(result, "write") }
            Descriptor<UInt8>("5c3a0009-7e3c-4b6e-9d29-b3f1c0a1d001") {
                Read { _, session in
                    try await session.notify(result, "read of the descriptor")
                    return 2
                }
                Write { _, _, session in try await session.notify(result, "write of the descriptor") }
            }
        }
        let persistent = Characteristic<UInt8>(0x2A1A, [.read, .write]) {
            PersistentValue(initially: 0) { _, _, session in
                try await session.notify(result, "persistent value")
            }
        }
        let batched = Characteristic<UInt8>(0x2A1B, [.read, .write]) {
            PersistentValue(initially: 0) { _, _, session, updates in
                try await session.notify(result, "persistent value with a batch")
                try updates.append(result, "batch")
            }
        }
        let peripheral = Peripheral("Handlers") {
            GATTService(0x180F) {
                value; persistent; batched; result
            }
        }
        // A handler must not receive the session of an earlier run.
        for _ in 1...2 {
            try await peripheral.test(logger: .silent) { central in
                try await central.subscribe(to: result)
                _ = try await central.read(value)
                try await central.write(value, 1)
                let descriptor = try #require(try await central.locate(value).descriptors.first).handle
                _ = try await central.read(descriptor, offset: 0)
                try await central.write(descriptor, [1])
                try await central.write(persistent, 1)
                try await central.write(batched, 1)
                let expected = [
                    "read", "write", "read of the descriptor", "write of the descriptor", "persistent value",
                    "persistent value with a batch", "batch",
                ]
                for update in expected { #expect(try await central.nextUpdate(of: result) == update) }
            }
        }
    }

    @Test func aHandlerThatOutlivesTheSessionIsAnsweredButItsCallsThrow() async throws {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let errors = Mutex<[PeripheralError.Code]>([])
        let result = Characteristic<UInt8>(0x2A1A, .notify)
        let value = Characteristic<UInt8>(0x2A19, .read) {
            Read { _, session in
                enter.yield()
                for await _ in released { break }
                do {
                    try await session.notify(result, 1)
                } catch let error as PeripheralError {
                    errors.withLock { $0.append(error.code) }
                }
                return 7
            }
        }
        let peripheral = Peripheral("Late") {
            GATTService(0x180F) {
                value; result
            }
        }
        let backend = InMemoryBackend()
        let reading = try await peripheral.run(on: backend, logger: .silent) { session in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            let reading = Task { try await central.read(value) }
            for await _ in entered { break }
            // The handler continues when the session has ended.
            Task {
                try await until { (try? session.handle(of: value)) == nil }
                release.yield()
            }
            return reading
        }
        #expect(try await reading.value == 7)
        #expect(errors.withLock(\.self) == [.stopped])
    }

    @Test func anErrorOfTheSessionRefusesTheRequest() async throws {
        let result = Characteristic<UInt8>(0x2A1A, .notify)
        let value = Characteristic<UInt8>(0x2A19, .write) {
            Write { number, central, session in try await session.notify(result, number, to: central) }
        }
        let peripheral = Peripheral("Alone") {
            GATTService(0x180F) {
                value; result
            }
        }
        try await peripheral.test(logger: .silent) { central in
            await #expect(throws: ATTError.unlikelyError) { try await central.write(value, 1) }
            try await central.subscribe(to: result)
            try await central.write(value, 2)
            #expect(try await central.nextUpdate(of: result) == 2)
        }
    }
}
