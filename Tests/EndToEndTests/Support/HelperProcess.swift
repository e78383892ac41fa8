import Glibc
import Testing

/// One of the programs that stand beside the tests, as a process of its own, which is killed with this
/// object.
final class HelperProcess {
    private let process: pid_t
    private var status: CInt?

    init(_ name: String, _ arguments: String...) throws {
        let path = try Self.path(of: name)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        // Swift's threads have all signals blocked, which the process would otherwise inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        try #require(posix_spawn(&process, path, nil, &attributes, words, environ) == 0, "\(path)")
        self.process = process
    }

    deinit {
        signal(SIGKILL)
        _ = exitStatus()
    }

    func signal(_ number: CInt) {
        if status == nil { kill(process, number) }
    }

    /// Whether the process has not ended yet.
    var isRunning: Bool {
        guard status == nil else { return false }
        var information = siginfo_t()
        return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information.si_signo == 0
    }

    /// Waits until the process has ended; the status by which it has, or minus the signal.
    func exitStatus() -> CInt {
        if let status { return status }
        var word: CInt = 0
        waitpid(process, &word, 0)
        let signal = word & 0x7F
        let status = signal == 0 ? word >> 8 & 0xFF : -signal
        self.status = status
        return status
    }

    /// The path of a helper.
    static func path(of name: String) throws -> String {
        var link = [CChar](repeating: 0, count: 4096)
        try #require(readlink("/proc/self/exe", &link, link.count - 1) > 0)
        let tests = String(decoding: link.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return tests.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/\(name)"
    }
}
