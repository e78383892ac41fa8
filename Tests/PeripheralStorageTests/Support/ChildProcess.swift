import Glibc
import Testing

/// The helper of these tests in a process of its own, which is killed with this object.
final class ChildProcess {
    private let process: pid_t
    /// Connected to the standard input and output of the child.
    private let socket: CInt
    private var isOver = false

    /// Starts the helper; `launcher` is what starts it in turn, with its arguments.
    init(
        _ command: String,
        in directory: TemporaryDirectory,
        _ identifier: String,
        launcher: [String] = []
    ) throws {
        var link = [CChar](repeating: 0, count: 4096)
        try #require(readlink("/proc/self/exe", &link, link.count - 1) > 0)
        let tests = String(decoding: link.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let helper = tests.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/storage-test-helper"

        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        let line = launcher + [helper, command, directory.path, identifier]
        var arguments = line.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var started: pid_t = 0
        try #require(posix_spawnp(&started, line[0], &actions, nil, &arguments, environ) == 0, "\(line)")
        process = started
        socket = ends[0]
    }

    deinit {
        kill()
        close(socket)
    }

    /// The next line of the child, `nil` when it has ended.
    func line() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(socket, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// All lines until the child ends.
    func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Lets the child go on.
    func proceed() {
        _ = send(socket, "\n", 1, CInt(MSG_NOSIGNAL))
    }

    /// Kills the child at once, and waits until it is gone.
    func kill() {
        guard !isOver else { return }
        isOver = true
        Glibc.kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
