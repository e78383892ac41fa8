import Glibc
import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

@testable import struct PeripheralStorage.StateFileName

/// A state is erased with all its copies, or not at all.
@Suite(.timeLimit(.minutes(1)))
struct EraseTests {
    private let directory: TemporaryDirectory
    private let identifier = "com.example.lamp"
    private let name = StateFileName(identifier: "com.example.lamp")

    private var store: StateDirectory { directory.store }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func save(_ identifier: String) async throws {
        let record = try await store.open(identifier)
        try await record.save(.sample)
        await record.close()
    }

    private func expectNoState() async throws {
        #expect(directory.names == [name.lock])
        #expect(try await store.identifiers().isEmpty)
        #expect(try await store.open(identifier).load() == nil)
    }

    @Test func stateIsErasedWithEachCopy() async throws {
        let record = try await store.open(identifier)
        for _ in 0..<2 {
            try await record.save(.sample)
            #expect(try await record.setAside() != nil)
        }
        try await record.save(.sample)
        #expect(try await record.setAside(forVersion: 99) != nil)
        try await record.save(.sample)
        await record.close()
        #expect(directory.names.count == 5)
        try await store.erase(identifier)
        try await expectNoState()
    }

    @Test func statesOfOthersStay() async throws {
        // The name of the second begins like the name of the first.
        for identifier in [identifier, "com.example.lamp.state", "com.example.lamp2"] {
            try await save(identifier)
        }
        try await store.erase(identifier)
        #expect(
            try await Set(store.identifiers()) == ["com.example.lamp.state", "com.example.lamp2"]
        )
    }

    /// A state that this version set aside for itself would otherwise come back.
    @Test func stateOfAnEarlierVersionDoesNotComeBack() async throws {
        try await save(identifier)
        let state = try directory.read(name.state)
        try directory.write(state, to: name.state(ofVersion: 2))
        try directory.write(state, to: name.state(ofVersion: 1))
        try await store.erase(identifier)
        try await expectNoState()
    }

    @Test func damagedStateIsErased() async throws {
        try await save(identifier)
        try directory.write([0, 1, 2], to: name.state)
        #expect(
            await code { () throws(RestorationError) in _ = try await store.open(identifier).load() }
                == .damaged
        )
        try await until { (try? await store.erase(identifier)) != nil }
        try await expectNoState()
    }

    @Test func symbolicLinkIsErasedAndItsTargetStays() async throws {
        try directory.write([7], to: "target")
        try #require(symlink(directory.path(of: "target"), directory.path(of: name.state)) == 0)
        try await store.erase(identifier)
        #expect(directory.names == [name.lock, "target"].sorted())
        #expect(try directory.read("target") == [7])
    }

    @Test func erasingNothingIsNoError() async throws {
        try await store.erase(identifier)
        try await store.erase(identifier)
        try await expectNoState()
        try await StateDirectory(path: directory.path(of: "missing")).erase(identifier)
    }

    @Test func stateInUseIsNotErased() async throws {
        let record = try await store.open(identifier)
        try await record.save(.sample)
        do throws(RestorationError) {
            try await store.erase(identifier)
            Issue.record("The state was erased.")
        } catch {
            #expect(error.code == .inUse)
            #expect(error.message.contains("\"com.example.lamp\" is not erased"))
        }
        #expect(try await record.load() == .sample)
        await record.close()
        try await store.erase(identifier)
        #expect(await code { () throws(RestorationError) in try await record.erase() } == .closed)
    }

    @Test func stateInUseByAnotherProcessIsNotErased() async throws {
        try await save(identifier)
        let child = try ChildProcess("hold", in: directory, identifier)
        #expect(child.line() == "open")
        #expect(await code { () throws(RestorationError) in try await store.erase(identifier) } == .inUse)
        child.kill()
        #expect(try await store.identifiers() == [identifier])
        try await store.erase(identifier)
        try await expectNoState()
    }

    /// A folder in the place of a file, which only a person can have made.
    @Test func fileThatCannotBeRemovedIsReported() async throws {
        try await save(identifier)
        let copy = directory.path(of: name.setAside(1))
        try #require(mkdir(copy, 0o700) == 0 && mkdir("\(copy)/inner", 0o700) == 0)
        do throws(RestorationError) {
            try await store.erase(identifier)
            Issue.record("The folder was removed.")
        } catch {
            #expect(error.code == .unwritable)
            #expect(error.message.contains("\(copy) cannot be removed: Directory not empty."))
        }
        #expect(try await store.identifiers() == [identifier])
    }
}
