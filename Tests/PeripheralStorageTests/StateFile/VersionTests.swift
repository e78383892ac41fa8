import Glibc
import PeripheralKit
import Testing

@testable import PeripheralStorage

/// A program that is replaced by an older version, and then by the newer one again, continues where that was.
@Suite(.timeLimit(.minutes(1)))
struct VersionTests {
    private let directory: TemporaryDirectory
    private let store: StateDirectory
    private let identifier = "com.example.lamp"
    private let name: StateFileName

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.store
        name = StateFileName(identifier: identifier)
    }

    private func restorationState(_ value: String) -> RestorationState {
        var restorationState = RestorationState()
        restorationState.append(
            RestorationState.Group("Values", entries: [.init(key: "Value", value: value)])
        )
        return restorationState
    }

    /// What the second version of this package would have in its file.
    private func stateOfNewerVersion(_ value: String) -> [UInt8] {
        let text = "Version=2\nIdentifier=\(identifier)\n\n[Values]\nValue=\(value)\n"
        return StateFileFormat.seal(Array(text.utf8)[...])
    }

    /// What the second version of this package finds.
    private func loadAsNewerVersion() throws -> RestorationState? {
        let place = try #require(try TrustedDirectory(path: directory.path))
        return try StateFile(identifier: identifier, in: place, version: 2).load()
    }

    /// Has this version find the state of the newer one, and keep it for that.
    private func keepStateOfNewerVersion(_ record: any RestorationRecord) async throws {
        let error = await #expect(throws: RestorationError.self) { try await record.load() }
        #expect(error?.code == .newerVersion && error?.version == 2)
        #expect(try await record.setAside(forVersion: 2) == directory.path(of: name.state(ofVersion: 2)))
    }

    @Test func whatANewerVersionHasSavedIsUsedAgainByIt() async throws {
        try directory.write(stateOfNewerVersion("new"), to: name.state)
        let record = try await store.open(identifier)
        try await keepStateOfNewerVersion(record)
        #expect(try await record.load() == nil)
        // It is not one of the few that are kept for a person to look into.
        for number in 1...5 {
            try await record.save(restorationState("\(number)"))
            _ = try await record.setAside()
        }
        try await record.save(restorationState("old"))
        await record.close()
        #expect(directory.names.count { name.numberSetAside($0) != nil } == 3)

        #expect(try loadAsNewerVersion() == restorationState("new"))
        #expect(try directory.read(name.state) == stateOfNewerVersion("new"))
        // Once more: nothing moves any more.
        #expect(try loadAsNewerVersion() == restorationState("new"))
        #expect(directory.names.count { name.numberSetAside($0) != nil } == 3)

        // The older version, in turn, goes on from its own.
        let again = try await store.open(identifier)
        try await keepStateOfNewerVersion(again)
        #expect(try await again.load() == restorationState("old"))
        await again.close()
        #expect(try loadAsNewerVersion() == restorationState("new"))
    }

    @Test func anOlderStateIsUsedWhereThereIsNoOtherOne() async throws {
        let record = try await store.open(identifier)
        try await record.save(restorationState("old"))
        await record.close()
        #expect(try loadAsNewerVersion() == restorationState("old"))
        #expect(directory.names == [name.lock, name.state].sorted())
    }

    /// A program may be killed between two moves.
    @Test func aStateOfThisVersionIsFoundUnderItsName() async throws {
        let record = try await store.open(identifier)
        try await record.save(restorationState("own"))
        await record.close()
        try directory.write(directory.read(name.state), to: name.state(ofVersion: 1))
        #expect(try await store.identifiers() == [identifier])
        #expect(unlink(directory.path(of: name.state)) == 0)
        #expect(try await store.identifiers() == [identifier])
        let again = try await store.open(identifier)
        #expect(try await again.load() == restorationState("own"))
        #expect(directory.names == [name.lock, name.state].sorted())
    }

    @Test func noStateOfANewerVersionIsLost() async throws {
        try directory.write(stateOfNewerVersion("first"), to: name.state(ofVersion: 2))
        try directory.write(stateOfNewerVersion("second"), to: name.state)
        let record = try await store.open(identifier)
        try await keepStateOfNewerVersion(record)
        #expect(try directory.read(name.state(ofVersion: 2)) == stateOfNewerVersion("second"))
        #expect(try directory.read(name.setAside(1)) == stateOfNewerVersion("first"))
    }

    /// An older state must not take over from one that cannot be read, perhaps only now.
    @Test(arguments: [RestorationError.Code.damaged, .untrusted])
    func whatCannotBeReadIsToldAndStaysInItsPlace(code: RestorationError.Code) async throws {
        let record = try await store.open(identifier)
        try await record.save(restorationState("old"))
        try directory.write(directory.read(name.state), to: name.state(ofVersion: 1))
        try await record.save(restorationState("own"))
        await record.close()
        if code == .damaged { try directory.write([1, 2, 3], to: name.state) }
        let state = try directory.read(name.state)
        if code == .untrusted { #expect(chmod(directory.path(of: name.state), 0o666) == 0) }

        let again = try await store.open(identifier)
        let error = await #expect(throws: RestorationError.self) { try await again.load() }
        #expect(error?.code == code)
        await again.close()
        #expect(try directory.read(name.state) == state)
        #expect(directory.names.count { name.numberSetAside($0) != nil } == 0)

        // What can be read again is used, and outranks the older one.
        guard code == .untrusted else { return }
        #expect(chmod(directory.path(of: name.state), 0o600) == 0)
        let last = try await store.open(identifier)
        #expect(try await last.load() == restorationState("own"))
        await last.close()
    }

    @Test func aStateOfThisVersionOutranksOneThatWasKept() async throws {
        let record = try await store.open(identifier)
        try await record.save(restorationState("kept"))
        try directory.write(directory.read(name.state), to: name.state(ofVersion: 1))
        try await record.save(restorationState("own"))
        await record.close()
        let again = try await store.open(identifier)
        #expect(try await again.load() == restorationState("own"))
        #expect(directory.names == [name.lock, name.setAside(1), name.state].sorted())
    }
}
