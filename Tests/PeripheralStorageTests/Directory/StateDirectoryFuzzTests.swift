import Glibc
import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

@testable import struct PeripheralStorage.StateFileName

/// Whatever lies in the directory, a record can be used in the end, and nothing outside of the directory is
/// touched.
@Suite(.timeLimit(.minutes(30)))
struct StateDirectoryFuzzTests {
    /// Each directory takes several saves, which wait for the disk.
    private static let directoryCount = 200
    private static let identifier = "com.example.lamp"
    private static let name = StateFileName(identifier: identifier)

    @Test(arguments: [61 as UInt64]) func anyDirectoryCanBeUsed(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let outside = try TemporaryDirectory()
        try outside.write([1, 2, 3], to: "file")
        for round in 0..<Self.directoryCount {
            let directory = try TemporaryDirectory()
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                try put(somethingIn: directory, outside: outside, using: &generator)
            }
            do throws(RestorationError) {
                try await use(directory.store)
            } catch {
                // The one that put something in the place of the lock, which is never moved, has to take it
                // away.
                #expect(error.code == .untrusted, "round \(round), seed \(seed): \(error)")
                #expect(error.message.contains(".lock"), "round \(round), seed \(seed): \(error)")
            }
            #expect(outside.names == ["file"], "round \(round), seed \(seed)")
            #expect(try outside.read("file") == [1, 2, 3], "round \(round), seed \(seed)")
        }
    }

    private func use(_ store: StateDirectory) async throws(RestorationError) {
        _ = try await store.identifiers()
        let record = try await store.open(Self.identifier)
        do throws(RestorationError) {
            _ = try await record.load()
        } catch {
            let aside = try await record.setAside()
            #expect(aside != nil)
        }
        try await record.save(.sample)
        #expect(try await record.load() == .sample)
        #expect(try await store.identifiers().contains(Self.identifier))
        await record.close()
    }

    private func put(
        somethingIn directory: TemporaryDirectory,
        outside: TemporaryDirectory,
        using generator: inout SeededGenerator
    ) throws {
        let names = [
            Self.name.state, Self.name.state, Self.name.state, Self.name.lock, Self.name.setAside(1),
            Self.name.setAside(3), Self.name.state + ".A1B2C3", "other.state",
            StateFileName(identifier: "x").state,
        ]
        let name = names[Int.random(in: names.indices, using: &generator)]
        let path = directory.path(of: name)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: symlink(outside.path(of: "file"), path)
        case 1: symlink(outside.path, path)
        case 2: mkdir(path, 0o700)
        case 3: mkfifo(path, 0o600)
        default:
            var status = stat()
            guard lstat(path, &status) != 0 else { return }
            var text = try StateFileFormat.text(
                of: .random(using: &generator),
                identifier: Bool.random(using: &generator) ? Self.identifier : "x"
            )
            if Bool.random(using: &generator) { text.changeStateFile(using: &generator) }
            try directory.write(text, to: name, mode: Bool.random(using: &generator) ? 0o600 : 0o644)
        }
    }
}
