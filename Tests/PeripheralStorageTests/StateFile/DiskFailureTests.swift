import Glibc
import PeripheralKit
import PeripheralStorage
import Testing

@testable import struct PeripheralStorage.StateFileName

/// A failure of the disk is reported, and the previous state stays.
@Suite(.timeLimit(.minutes(1)))
struct DiskFailureTests {
    private let directory: TemporaryDirectory
    private let identifier = "com.example.lamp"

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func fileThatGrowsTooLargeIsNotSaved() throws {
        let child = try ChildProcess("limit", in: directory, identifier)
        #expect(child.lines() == ["unwritable", "intact"])
        let name = StateFileName(identifier: identifier)
        #expect(directory.names == [name.lock, name.state].sorted())
    }

    /// What starts a process with file systems of its own.
    private static let launcher = ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--map-root-user"])

    /// Whether the system lets such a process be: not everybody may do so everywhere.
    private static let canMount: Bool = {
        let line = launcher + ["true"]
        var arguments = line.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, line[0], nil, nil, &arguments, environ) == 0 else { return false }
        var status: CInt = 0
        return waitpid(process, &status, 0) == process && status == 0
    }()

    @Test(
        .enabled(if: canMount, "the tests may not mount here"),
        arguments: [
            ("full", ["unwritable", "intact"]),
            ("read-only", ["unwritable", "unwritable", "intact", "unwritable", "unwritable", "intact"]),
        ]
    )
    func diskThatTakesNothingIsTold(command: String, outcome: [String]) throws {
        // The file system that is to fail is mounted for the child alone.
        let child = try ChildProcess(command, in: directory, identifier, launcher: Self.launcher)
        #expect(child.lines() == outcome)
    }
}
