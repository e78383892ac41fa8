internal import CPeripheralGLib
internal import Glibc
internal import Synchronization

/// A private message bus for tests.
///
/// The bus is a `dbus-daemon` with its files in a new directory. The policy of the bus permits every
/// operation. The `dbus-daemon` exits when a test calls ``stop()``, or when the program releases the last
/// reference to the `PrivateBus`. The `dbus-daemon` also exits when the process that created the `PrivateBus`
/// exits or is killed.
public final class PrivateBus: Sendable {
    /// The error that is thrown if a private bus cannot start.
    public struct StartError: Error, CustomStringConvertible {
        /// The cause of the error, and a possible solution.
        public let description: String
    }

    /// The D-Bus address of the private bus.
    public let address: String
    private let directory: String
    private let daemon = Daemon()
    private var configurationPath: String { "\(directory)/bus.conf" }

    /// Starts a private bus, and returns when the bus accepts connections.
    ///
    /// - Throws: ``StartError`` if `dbus-daemon` is not installed or cannot start.
    public convenience init() async throws {
        let directory = try Self.makeDirectory()
        do {
            self.init(address: "unix:path=\(directory)/bus", directory: directory)
            try writeConfiguration()
            try await daemon.start(configuration: configurationPath)
        } catch {
            Self.remove(directory)
            throw error
        }
    }

    private init(address: String, directory: String) {
        self.address = address
        self.directory = directory
    }

    deinit {
        stop()
    }

    /// Stops the `dbus-daemon` and waits until it has exited.
    ///
    /// The function removes the directory of the bus after the `dbus-daemon` has exited.
    ///
    /// Further calls to ``stop()`` have no effect.
    public func stop() {
        daemon.kill()
        daemon.join()
        Self.remove(directory)
    }

    /// Kills the `dbus-daemon` immediately, to imitate a crash.
    ///
    /// A test can kill the `dbus-daemon` to simulate the loss of the bus.
    public func kill() {
        daemon.kill()
    }

    /// Kills a running `dbus-daemon`, and starts a new `dbus-daemon` at the same address.
    ///
    /// - Throws: ``StartError`` if the `dbus-daemon` cannot start.
    public func restart() async throws {
        daemon.kill()
        daemon.join()
        try await daemon.start(configuration: configurationPath)
    }

    /// Writes the configuration, which the daemon reads when it starts and at a `ReloadConfig` call.
    ///
    /// - Parameter denied: The bus names whose owners must not be called. Pending calls continue.
    /// - Throws: ``StartError`` if the configuration cannot be written.
    func writeConfiguration(denyingCallsTo denied: [String] = []) throws {
        let rules = denied.map { "\n    <deny send_destination=\"\($0)\" send_type=\"method_call\"/>" }
        try Self.write(
            Self.configuration(listeningOn: address, rules: rules.joined()),
            to: configurationPath
        )
    }

    /// Returns the text of the configuration.
    ///
    /// The default of `auth_timeout` is 30 s. With the default, a test that the system does not schedule for
    /// half a minute would lose a new connection.
    private static func configuration(listeningOn address: String, rules: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/>
            <allow own="*"/>
            <allow send_type="*"/>
            <allow receive_type="*"/>\(rules)
          </policy>
          <limit name="auth_timeout">600000</limit>
          <limit name="max_connections_per_user">1024</limit>
          <limit name="max_match_rules_per_connection">4096</limit>
          <limit name="max_replies_per_connection">65536</limit>
        </busconfig>

        """
    }
}

// MARK: - Files

extension PrivateBus {
    /// The directory for temporary files: `TMPDIR`, or `/tmp` if it is not set.
    package static var temporaryDirectory: String {
        unsafe g_get_tmp_dir().map { unsafe String(cString: $0) } ?? "/tmp"
    }

    package static func makeDirectory(in parent: String = temporaryDirectory) throws(StartError) -> String {
        let path = "\(parent)/swift-peripheral-XXXXXX"
        // The path of a socket has at most 107 bytes (unix(7)).
        guard "\(path)/bus".utf8.count <= 107 else {
            throw StartError(
                description: "the path \(parent) is too long for the socket of a private message bus; "
                    + "set TMPDIR to a directory with a shorter path"
            )
        }
        var bytes = path.utf8.map { CChar(bitPattern: $0) } + [0]
        guard unsafe mkdtemp(&bytes) != nil else {
            let reason = unsafe String(cString: g_strerror(errno))
            throw StartError(
                description:
                    "no directory for a private message bus can be created in \(parent) (\(reason)); "
                    + "set TMPDIR to a directory that this program can write"
            )
        }
        return String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws {
        guard unsafe g_file_set_contents(path, text, gssize(text.utf8.count), nil) != 0 else {
            throw StartError(description: "\(path) cannot be written")
        }
    }

    /// Removes the files of a bus, and ignores files that do not exist.
    private static func remove(_ directory: String) {
        unsafe unlink("\(directory)/bus")
        unsafe unlink("\(directory)/bus.conf")
        unsafe rmdir(directory)
    }
}

/// The process of a `dbus-daemon`, which a separate thread starts.
///
/// The kernel kills the process when the thread that started the process ends. Therefore the thread waits for
/// the end of the process and reaps it.
private final class Daemon: Sendable {
    private struct State {
        var process: GPid?
        var thread: UInt?
    }

    private let state = Mutex(State())

    func start(configuration: String) async throws {
        let result: Result<Void, PrivateBus.StartError> = await withCheckedContinuation { continuation in
            let body = ThreadBody { [self] in run(configuration, continuation) }
            let start = unsafe Unmanaged.passRetained(body).toOpaque()
            let thread = unsafe g_thread_new(
                "private-bus",
                { start in
                    if let start = unsafe start {
                        unsafe Unmanaged<ThreadBody>.fromOpaque(start).takeRetainedValue().run()
                    }
                    return nil
                },
                start
            )
            state.withLock { $0.thread = UInt(bitPattern: thread) }
        }
        if case .failure = result { join() }
        try result.get()
    }

    func kill() {
        state.withLock { state in
            // The lock is held, so the process ID cannot have been reaped and reused.
            if let process = state.process { _ = Glibc.kill(process, SIGKILL) }
        }
    }

    /// Waits for the end of the thread, which is also the end of the process.
    func join() {
        guard let thread = state.withLock({ $0.thread.take() }) else { return }
        _ = unsafe g_thread_join(UnsafeMutablePointer(bitPattern: thread))
    }

    private func run(
        _ configuration: String,
        _ continuation: CheckedContinuation<Result<Void, PrivateBus.StartError>, Never>
    ) {
        let process: GPid
        do throws(PrivateBus.StartError) {
            process = try spawn(configuration)
        } catch {
            return continuation.resume(returning: .failure(error))
        }
        continuation.resume(returning: .success(()))
        var information = unsafe siginfo_t()
        // Waits without reaping: the process ID stays valid until `kill` can no longer use it.
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock { $0.process = nil }
        _ = waitpid(process, nil, 0)
    }

    /// Starts the daemon and waits until it reports that it listens.
    private func spawn(_ configuration: String) throws(PrivateBus.StartError) -> GPid {
        var process: GPid = 0
        var output: gint = -1
        var error: UnsafeMutablePointer<GError>?
        let arguments = [
            "dbus-daemon", "--nofork", "--nopidfile", "--print-address=1", "--config-file=\(configuration)",
        ]
        var copies = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        let isStarted = unsafe g_spawn_async_with_pipes(
            nil,
            &copies,
            nil,
            peripheral_spawn_flags,
            { parent in unsafe peripheral_die_with_parent(parent) },
            UnsafeMutableRawPointer(bitPattern: Int(getpid())),
            &process,
            nil,
            &output,
            nil,
            &error
        )
        guard isStarted != 0 else {
            let reason = unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? ""
            unsafe g_clear_error(&error)
            throw PrivateBus.StartError(
                description: "dbus-daemon cannot be started; install the package \"dbus\" (\(reason))"
            )
        }
        state.withLock { $0.process = process }
        defer { close(output) }
        var byte: UInt8 = 0
        var count = 0
        repeat { count = unsafe read(output, &byte, 1) } while count == 1 && byte != UInt8(ascii: "\n")
        guard count == 1 else {
            state.withLock { $0.process = nil }
            _ = waitpid(process, nil, 0)
            throw PrivateBus.StartError(description: "dbus-daemon ended before it listened")
        }
        return process
    }

    private final class ThreadBody {
        let run: () -> Void

        init(_ run: @escaping () -> Void) {
            self.run = run
        }
    }
}
