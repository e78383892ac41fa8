import Glibc
import PeripheralKit
import PeripheralStorage
import Testing

@testable import struct PeripheralStorage.StateFileName

/// Something that lies where a state file belongs.
private struct HostileFile: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: RestorationError.Code
    /// Whether a save refuses to replace it as well.
    let isKept: Bool
    /// Puts it at a path; the other path is that of a file outside of the directory.
    let make: @Sendable (_ path: String, _ outside: String) -> Bool

    init(
        _ name: String,
        _ code: RestorationError.Code,
        isKept: Bool = true,
        make: @escaping @Sendable (String, String) -> Bool
    ) {
        testDescription = name
        self.code = code
        self.isKept = isKept
        self.make = make
    }

    private static func content(_ name: String, _ code: RestorationError.Code, _ bytes: [UInt8])
        -> HostileFile
    {
        HostileFile(name, code, isKept: false) { path, _ in put(bytes, at: path) }
    }

    private static func put(_ bytes: [UInt8], at path: String, mode: mode_t = 0o600) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        return write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, mode) == 0
    }

    private static let good =
        (try? StateFileFormat.text(of: .sample, identifier: "com.example.lamp")) ?? []

    static let all: [HostileFile] = [
        content("empty", .damaged, []),
        content("zeros", .damaged, [UInt8](repeating: 0, count: good.count)),
        content("truncated", .damaged, good.dropLast()),
        content("binary", .damaged, Array(0...255)),
        content(
            "another identifier's",
            .foreign,
            (try? StateFileFormat.text(of: .sample, identifier: "x")) ?? []
        ),
        content(
            "a newer version's",
            .newerVersion,
            StateFileFormat.seal(Array("Version=2\nIdentifier=com.example.lamp\n".utf8)[...])
        ),
        HostileFile("huge", .tooLarge, isKept: false) { path, _ in
            put([], at: path) && truncate(path, 1 << 40) == 0
        },
        HostileFile("symbolic link to a file", .untrusted) { symlink($1, $0) == 0 },
        HostileFile("symbolic link to a directory", .untrusted) { path, _ in symlink("/", path) == 0 },
        HostileFile("symbolic link to nothing", .untrusted) { path, _ in symlink("/nonexistent/x", path) == 0
        },
        HostileFile("FIFO", .untrusted) { path, _ in mkfifo(path, 0o600) == 0 },
        HostileFile("directory", .untrusted) { path, _ in mkdir(path, 0o700) == 0 },
        HostileFile("socket", .untrusted) { path, _ in mknod(path, S_IFSOCK | 0o600, 0) == 0 },
        HostileFile("writable by the group", .untrusted) { path, _ in put(good, at: path, mode: 0o660) },
        HostileFile("writable by all", .untrusted) { path, _ in put(good, at: path, mode: 0o606) },
    ]
}

@Suite(.timeLimit(.minutes(1)))
struct HostileFileTests {
    private let directory: TemporaryDirectory
    private let outside: TemporaryDirectory
    private let identifier = "com.example.lamp"
    private let name = StateFileName(identifier: "com.example.lamp")
    private let secret = Array("not for you".utf8)

    init() throws {
        directory = try TemporaryDirectory()
        outside = try TemporaryDirectory()
        try outside.write(secret, to: "file", mode: 0o644)
    }

    @Test(arguments: HostileFile.all)
    private func fileIsToldSetAsideAndReplaced(file: HostileFile) async throws {
        #expect(file.make(directory.path(of: name.state), outside.path(of: "file")))
        let record = try await directory.store.open(identifier)
        #expect(await code { () throws(RestorationError) in _ = try await record.load() } == file.code)
        if file.isKept {
            #expect(await code { () throws(RestorationError) in try await record.save(.sample) } == file.code)
        }
        let path = try #require(try await record.setAside())
        #expect(path == directory.path(of: name.setAside(1)))
        #expect(try await record.load() == nil)
        try await record.save(.sample)
        #expect(try await record.load() == .sample)
        #expect(directory.names == [name.setAside(1), name.lock, name.state].sorted())
        #expect(try directory.status(of: name.state).st_mode & 0o777 == 0o600)
        try expectOutsideUntouched()
    }

    @Test(arguments: HostileFile.all)
    private func listGoesOnWithoutTheFile(file: HostileFile) async throws {
        #expect(file.make(directory.path(of: name.state), outside.path(of: "file")))
        let record = try await directory.store.open("com.example.other")
        try await record.save(.sample)
        let listed = try await directory.store.identifiers()
        #expect(listed == ["com.example.other"])
        try expectOutsideUntouched()
    }

    /// One bit that has flipped hides the state of one peripheral, and not of all.
    @Test func listGoesOnWithoutAFileWithAFlippedBit() async throws {
        for identifier in [identifier, "com.example.other"] {
            let record = try await directory.store.open(identifier)
            try await record.save(.sample)
        }
        #expect(try await directory.store.identifiers().count == 2)
        var text = try directory.read(name.state)
        text[text.count - 2] ^= 1
        try directory.write(text, to: name.state)
        #expect(try await directory.store.identifiers() == ["com.example.other"])
        #expect(try directory.read(name.state) == text)
    }

    @Test(arguments: HostileFile.all.filter { $0.isKept })
    private func lockIsNotFollowed(file: HostileFile) async throws {
        #expect(file.make(directory.path(of: name.lock), outside.path(of: "file")))
        #expect(
            await code { () throws(RestorationError) in _ = try await directory.store.open(identifier) }
                == .untrusted
        )
        try expectOutsideUntouched()
    }

    @Test func fileUnderAnotherNameIsNotListed() async throws {
        let record = try await directory.store.open(identifier)
        try await record.save(.sample)
        try directory.write(directory.read(name.state), to: "copy.state")
        #expect(try await directory.store.identifiers() == [identifier])
    }

    @Test(arguments: [0o770, 0o707, 0o1777] as [mode_t])
    func directoryThatOthersMayWriteIsRefused(mode: mode_t) async throws {
        #expect(chmod(directory.path, mode) == 0)
        let store = directory.store
        #expect(
            await code { () throws(RestorationError) in _ = try await store.open(identifier) } == .untrusted
        )
        #expect(await code { () throws(RestorationError) in _ = try await store.identifiers() } == .untrusted)
        #expect(directory.names.isEmpty)
    }

    @Test(.enabled(if: canGiveFilesAway, "only root can, and not in a namespace of users where it is alone"))
    func whatBelongsToAnotherUserIsRefused() async throws {
        let record = try await directory.store.open(identifier)
        try await record.save(.sample)
        #expect(chown(directory.path(of: name.state), 65534, 65534) == 0)
        #expect(await code { () throws(RestorationError) in _ = try await record.load() } == .untrusted)
        await record.close()
        #expect(chown(directory.path, 65534, 65534) == 0)
        #expect(
            await code { () throws(RestorationError) in _ = try await directory.store.open(identifier) }
                == .untrusted
        )
    }

    @Test func directoryMayBeReachedByASymbolicLink() async throws {
        // As systemd does for a service with a dynamic user.
        let link = outside.path(of: "link")
        #expect(symlink(directory.path, link) == 0)
        let record = try await StateDirectory(path: link).open(identifier)
        try await record.save(.sample)
        #expect(directory.names == [name.lock, name.state].sorted())
    }

    @Test func pathThatIsNoDirectoryIsRefused() async throws {
        let store = StateDirectory(path: outside.path(of: "file"))
        #expect(
            await code { () throws(RestorationError) in _ = try await store.open(identifier) } == .unreadable
        )
        #expect(
            await code { () throws(RestorationError) in _ = try await store.identifiers() } == .unreadable
        )
        try expectOutsideUntouched()
    }

    @Test func hostileNumberOfAFileSetAsideIsPassedOver() async throws {
        for number in ["9223372036854775807", "99999999999999999999", "-1", "0", "1000000000"] {
            try directory.write([], to: "\(name.setAside(1).dropLast())\(number)")
        }
        let record = try await directory.store.open(identifier)
        try await record.save(.sample)
        #expect(try await record.setAside() == directory.path(of: name.setAside(1)))
    }

    private func expectOutsideUntouched() throws {
        #expect(outside.names == ["file"])
        #expect(try outside.read("file") == secret)
        #expect(try outside.status(of: "file").st_mode & 0o777 == 0o644)
    }
}

/// Whether there is another user to give files to: in a namespace of users, root may be alone.
private var canGiveFilesAway: Bool {
    guard geteuid() == 0, let map = fopen("/proc/self/uid_map", "re") else { return false }
    defer { fclose(map) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, CInt(line.count), map) != nil else { return false }
    let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
    return words.count == 3 && Int(words[2]).map { $0 > 65534 } ?? false
}
