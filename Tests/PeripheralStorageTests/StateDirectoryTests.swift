import Glibc
import PeripheralKit
import PeripheralStorage
import Testing

@testable import struct PeripheralStorage.StateFileName

@Suite(.timeLimit(.minutes(1)))
struct StateDirectoryTests {
    private let directory: TemporaryDirectory
    private let store: StateDirectory
    private let identifier = "com.example.lamp"

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.store
    }

    private func restorationState(_ value: String) -> RestorationState {
        var group = RestorationState.Group("Values")
        group["Value"] = value
        var restorationState = RestorationState()
        restorationState.append(group)
        return restorationState
    }

    @Test func whatIsSavedIsLoaded() async throws {
        let record = try await store.open(identifier)
        #expect(try await record.load() == nil)
        for restorationState in [.sample, restorationState("2"), RestorationState()] {
            try await record.save(restorationState)
            #expect(try await record.load() == restorationState)
        }
        try await record.save(.sample)
        await record.close()
        let again = try await StateDirectory(path: directory.path + "/").open(identifier)
        #expect(try await again.load() == .sample)
    }

    @Test func filesAreForThisUserAlone() async throws {
        let inner = StateDirectory(path: directory.path(of: "inner"))
        let record = try await inner.open(identifier)
        try await record.save(.sample)
        #expect(try directory.status(of: "inner").st_mode & 0o7777 == 0o700)
        let name = StateFileName(identifier: identifier)
        #expect(try directory.status(of: "inner/\(name.state)").st_mode & 0o7777 == 0o600)
        #expect(try directory.status(of: "inner/\(name.lock)").st_mode & 0o7777 == 0o600)
        #expect(chmod(directory.path(of: "inner/\(name.state)"), 0o644) == 0)
        try await record.save(.sample)
        #expect(try directory.status(of: "inner/\(name.state)").st_mode & 0o7777 == 0o600)
    }

    @Test func onlyTheLastComponentIsMade() async throws {
        let store = StateDirectory(path: directory.path(of: "missing/inner"))
        #expect(
            await code { () throws(RestorationError) in _ = try await store.open(identifier) } == .unwritable
        )
        #expect(directory.names.isEmpty)
        #expect(try await store.identifiers().isEmpty)
    }

    /// Returns the message of the error when the store at a path cannot be opened.
    private func message(ofStoreAt path: String) async -> String? {
        do throws(RestorationError) {
            _ = try await StateDirectory(path: path).open(identifier)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func theErrorNamesTheProblemOfTheDirectory() async throws {
        try directory.write([], to: "file")
        let file = directory.path(of: "file")
        #expect(
            await message(ofStoreAt: file) == "The directory \(file) cannot be read: Not a directory. "
                + "Remedy: choose the path of a directory, not of a file."
        )
        let missing = directory.path(of: "missing/inner")
        #expect(
            await message(ofStoreAt: missing)
                == "The directory \(missing) cannot be created: No such file or directory. "
                + "Remedy: create the directory that contains it, or choose another one."
        )
        let inFile = directory.path(of: "file/inner")
        #expect(
            await message(ofStoreAt: inFile) == "The directory \(inFile) cannot be created: Not a directory. "
                + "Remedy: choose another path, because a part of this path is a file."
        )
        #expect(
            await message(ofStoreAt: "/proc/inner")
                == "The directory /proc/inner cannot be created: No such file or directory. Remedy: choose another "
                + "directory, because its file system does not allow new directories there."
        )
        #expect(chmod(directory.path, 0o775) == 0)
        #expect(
            await message(ofStoreAt: directory.path)
                == "The directory \(directory.path) cannot be trusted: other users "
                + "can write to it, because it has the mode 0775. Use a directory that only the user of this program can "
                + "use (mode 0700)."
        )
    }

    @Test func everyIdentifierHasARecordOfItsOwn() async throws {
        let identifiers = [
            "com.example.lamp", "com.example.Lamp", "..", "/", "a/b", "../../x", "a\nb", "é", "e\u{301}",
            String(repeating: "x", count: 4096), String(repeating: "\n", count: 4096),
        ]
        for identifier in identifiers {
            let record = try await store.open(identifier)
            try await record.save(restorationState(identifier))
        }
        for identifier in identifiers {
            #expect(try await store.open(identifier).load() == restorationState(identifier))
        }
        let listed = try await store.identifiers()
        #expect(Set(listed.map { Array($0.utf8) }) == Set(identifiers.map { Array($0.utf8) }))
        #expect(listed.count == identifiers.count)
    }

    @Test(arguments: ["", "a\0b", String(repeating: "x", count: 4097)])
    func identifierThatNoRecordCanHaveIsRefused(identifier: String) async throws {
        #expect(
            await code { () throws(RestorationError) in _ = try await store.open(identifier) }
                == .invalidIdentifier
        )
        #expect(directory.names.isEmpty)
    }

    @Test func savesAreCarriedOutInOrder() async throws {
        let record = try await store.open(identifier)
        let directory = directory
        await withTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    _ = await code { () throws(RestorationError) in
                        var restorationState = RestorationState.sample
                        restorationState.append(.init("N\(number)"))
                        try await record.save(restorationState)
                        guard try await record.load() != nil else {
                            Issue.record("nothing is preserved after \(number)")
                            return
                        }
                    }
                }
            }
        }
        // One that was saved, and nothing temporary.
        #expect(directory.names.count == 2)
    }

    @Test func whatIsSetAsideIsNotLoadedAndOnlyAFewAreKept() async throws {
        let record = try await store.open(identifier)
        #expect(try await record.setAside() == nil)
        var paths: [String] = []
        for number in 1...5 {
            try await record.save(restorationState("\(number)"))
            paths.append(try #require(try await record.setAside()))
            #expect(try await record.load() == nil)
        }
        #expect(Set(paths).count == 5)
        let name = StateFileName(identifier: identifier)
        let kept = directory.names.compactMap { name.numberSetAside($0) }
        #expect(kept == [3, 4, 5])
        #expect(paths.last == directory.path(of: name.setAside(5)))
        let text = String(decoding: try directory.read(name.setAside(4)), as: UTF8.self)
        #expect(text.hasSuffix("[Values]\nValue=4\n"))
        #expect(try await store.identifiers().isEmpty)
    }

    @Test func whatAKilledWriterLeftIsRemoved() async throws {
        let name = StateFileName(identifier: identifier)
        let other = StateFileName(identifier: "com.example.other")
        try directory.write([1], to: name.state + ".A1B2C3")
        try directory.write([1], to: other.state + ".A1B2C3")
        _ = try await store.open(identifier)
        #expect(directory.names == [name.lock, other.state + ".A1B2C3"].sorted())
    }

    @Test func closedRecordRefuses() async throws {
        let record = try await store.open(identifier)
        try await record.save(.sample)
        await record.close()
        await record.close()
        #expect(await code { () throws(RestorationError) in _ = try await record.load() } == .closed)
        #expect(await code { () throws(RestorationError) in try await record.save(.sample) } == .closed)
        #expect(await code { () throws(RestorationError) in _ = try await record.setAside() } == .closed)
    }

    @Test func directoryThatIsMovedAwayIsNotWrittenTo() async throws {
        let inner = StateDirectory(path: directory.path(of: "inner"))
        let record = try await inner.open(identifier)
        #expect(rename(directory.path(of: "inner"), directory.path(of: "moved")) == 0)
        #expect(mkdir(directory.path(of: "inner"), 0o700) == 0)
        #expect(await code { () throws(RestorationError) in try await record.save(.sample) } == .unwritable)
        #expect(rmdir(directory.path(of: "inner")) == 0)
    }
}
