import Glibc
import PeripheralKit
import PeripheralStorage
import Testing

@testable import struct PeripheralStorage.StateFileName

/// What the disk does not take is told, and what was there before stays.
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

    @Test(arguments: [
        ("full", ["unwritable", "intact"]),
        ("read-only", ["unwritable", "unwritable", "intact", "unwritable"]),
    ])
    func diskThatTakesNothingIsTold(command: String, outcome: [String]) throws {
        // The file system that is to fail is mounted for the child alone; not everybody may do so.
        let launcher = ["unshare", "--mount"] + (geteuid() == 0 ? [] : ["--map-root-user"])
        let lines = try ChildProcess(command, in: directory, identifier, launcher: launcher).lines()
        #expect(lines == outcome || geteuid() != 0 && lines.isEmpty)
    }
}
