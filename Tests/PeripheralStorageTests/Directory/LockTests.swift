import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LockTests {
    private let directory: TemporaryDirectory
    private let identifier = "com.example.lamp"

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func openAgain() async -> RestorationError.Code? {
        await code { () throws(RestorationError) in _ = try await directory.store.open(identifier) }
    }

    @Test func openRecordIsNotOpenedAgain() async throws {
        let record = try await directory.store.open(identifier)
        #expect(await openAgain() == .inUse)
        #expect(
            await code { () throws(RestorationError) in
                _ = try await directory.store.open("com.example.other")
            } == nil
        )
        await record.close()
        #expect(await openAgain() == nil)
    }

    @Test func recordThatIsForgottenIsClosed() async throws {
        do {
            let record = try await directory.store.open(identifier)
            try await record.save(.sample)
        }
        // The thread of the files may be about to release the record.
        try await until { await openAgain() != .inUse }
        #expect(await openAgain() == nil)
    }

    @Test func recordIsNotOpenedByAnotherProcess() async throws {
        let record = try await directory.store.open(identifier)
        #expect(try ChildProcess("hold", in: directory, identifier).lines() == ["inUse"])
        await record.close()
        let child = try ChildProcess("hold", in: directory, identifier)
        #expect(child.line() == "open")
        #expect(await openAgain() == .inUse)
        child.proceed()
        #expect(child.line() == nil)
        #expect(await openAgain() == nil)
    }

    @Test func lockEndsWithAKilledProcess() async throws {
        let child = try ChildProcess("hold", in: directory, identifier)
        #expect(child.line() == "open")
        #expect(await openAgain() == .inUse)
        child.kill()
        #expect(await openAgain() == nil)
    }
}
