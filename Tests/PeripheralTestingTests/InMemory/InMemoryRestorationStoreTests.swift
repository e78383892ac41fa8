import PeripheralKit
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct InMemoryRestorationStoreTests {
    private let store = InMemoryRestorationStore()
    private let identifier = "com.example.lamp"

    private func restorationState(_ name: String) -> RestorationState {
        var restorationState = RestorationState()
        restorationState.append(.init(name))
        return restorationState
    }

    private func code(of body: () async throws(RestorationError) -> Void) async -> RestorationError.Code? {
        do throws(RestorationError) {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func whatIsSavedIsLoaded() async throws {
        let record = try await store.open(identifier)
        #expect(try await record.load() == nil)
        #expect(try await store.identifiers().isEmpty)
        try await record.save(restorationState("A"))
        #expect(try await record.load() == restorationState("A"))
        #expect(try await store.identifiers() == [identifier])
        #expect(store[identifier] == restorationState("A"))
        #expect(store.saveCount == 1)
    }

    @Test func openRecordIsNotOpenedAgain() async throws {
        do {
            let record = try await store.open(identifier)
            #expect(
                await code { () throws(RestorationError) in _ = try await store.open(identifier) } == .inUse
            )
            await record.close()
            #expect(await code { () throws(RestorationError) in _ = try await record.load() } == .closed)
            let again = try await store.open(identifier)
            await record.close()
            #expect(
                await code { () throws(RestorationError) in _ = try await store.open(identifier) } == .inUse
            )
            _ = try await again.load()
        }
        #expect(await code { () throws(RestorationError) in _ = try await store.open(identifier) } == nil)
    }

    @Test func snapshotGoesOnFromItsInstant() async throws {
        let record = try await store.open(identifier)
        try await record.save(restorationState("A"))
        let snapshot = store.snapshot()
        try await record.save(restorationState("B"))
        let restarted = try await snapshot.open(identifier)
        #expect(try await restarted.load() == restorationState("A"))
        try await restarted.save(restorationState("C"))
        #expect(store[identifier] == restorationState("B"))
        #expect(snapshot.saveCount == 1)
    }

    @Test func failsAsToldUntilWhatFailsIsSetAside() async throws {
        store[identifier] = restorationState("A")
        let record = try await store.open(identifier)
        store.loadError = RestorationError(code: .damaged, message: "The test says so.")
        #expect(await code { () throws(RestorationError) in _ = try await record.load() } == .damaged)
        #expect(try await record.setAside() != nil)
        #expect(try await record.load() == nil)
        #expect(try await record.setAside() == nil)
        #expect(store.statesSetAside(of: identifier) == [restorationState("A")])

        store.saveError = RestorationError(code: .unwritable, message: "The test says so.")
        #expect(
            await code { () throws(RestorationError) in try await record.save(restorationState("B")) }
                == .unwritable
        )
        #expect(store.saveCount == 0)
        store.saveError = nil
        try await record.save(restorationState("B"))
        #expect(try await record.load() == restorationState("B"))
    }

    @Test func erasesTheStateAndItsCopies() async throws {
        store["other"] = restorationState("B")
        let record = try await store.open(identifier)
        for name in ["A", "B"] {
            try await record.save(restorationState(name))
            _ = try await record.setAside()
        }
        try await record.save(restorationState("A"))
        _ = try await record.setAside(forVersion: 9)
        try await record.save(restorationState("A"))
        #expect(
            await code { () throws(RestorationError) in try await store.erase(identifier) } == .inUse
        )
        #expect(store[identifier] == restorationState("A"))
        await record.close()
        store.saveError = RestorationError(code: .unwritable, message: "The test says so.")
        #expect(
            await code { () throws(RestorationError) in try await store.erase(identifier) } == .unwritable
        )
        #expect(store[identifier] == restorationState("A"))
        store.saveError = nil
        store.loadError = RestorationError(code: .damaged, message: "The test says so.")
        try await store.erase(identifier)
        #expect(store.loadError == nil && store[identifier] == nil)
        #expect(store.statesSetAside(of: identifier).isEmpty)
        #expect(store.state(of: identifier, setAsideForVersion: 9) == nil)
        #expect(store["other"] == restorationState("B"))
        try await store.erase(identifier)
    }

    @Test func refusesWhatFilesCannotHold() async throws {
        #expect(
            await code { () throws(RestorationError) in _ = try await store.open("") } == .invalidIdentifier
        )
        let record = try await store.open(identifier)
        #expect(
            await code { () throws(RestorationError) in try await record.save(restorationState("A b")) }
                == .unwritable
        )
    }

    @Test func savesAreAwaited() async throws {
        let record = try await store.open(identifier)
        await store.waitForSaves(0)
        async let reached: Void = store.waitForSaves(2)
        try await record.save(restorationState("A"))
        try await record.save(restorationState("B"))
        await reached
        #expect(store.saveCount == 2)
    }
}
