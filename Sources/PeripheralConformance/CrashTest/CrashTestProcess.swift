#if canImport(Glibc)
    private import Glibc
    public import PeripheralKit
    private import Synchronization

    /// A process that a ``CrashTest`` kills.
    ///
    /// The process reads orders from its standard input and writes lines to its standard output.
    public final class CrashTestProcess: KillableProgram {
        /// The error that is thrown if a process cannot start.
        public struct StartError: Error, CustomStringConvertible {
            /// The error message of the operating system.
            public let description: String

            fileprivate init(_ subject: String, _ code: CInt) {
                description = "\(subject): \(String(cString: strerror(code)))"
            }
        }

        /// The lines that the process writes to its standard output, until the process ends.
        public let lines: AsyncStream<String>

        /// A socket that closes with the last reference to it.
        private final class Socket: Sendable {
            let descriptor: CInt

            init(_ descriptor: CInt) {
                self.descriptor = descriptor
            }

            deinit {
                close(descriptor)
            }
        }

        private let process: pid_t
        /// Connected to the standard input and output of the process.
        private let socket: Socket
        private let isKilled = Mutex(false)

        /// Starts a program that calls ``CrashTestPeripheral/runAsProcess(on:restoringFrom:savingEvery:)``.
        ///
        /// - Parameters:
        ///   - path: The path of the program.
        ///   - arguments: The arguments of the program, without the program name.
        /// - Throws: ``StartError``.
        public init(path: String, arguments: [String]) throws {
            var ends: [CInt] = [0, 0]
            let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw StartError("socketpair", errno) }
            socket = Socket(ends[0])
            defer { close(ends[1]) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
            let words = ([path] + arguments).map { strdup($0) } + [nil]
            defer { words.forEach { free($0) } }
            var process: pid_t = 0
            let code = posix_spawn(&process, path, &actions, nil, words, environ)
            guard code == 0 else { throw StartError(path, code) }
            self.process = process
            let (lines, line) = AsyncStream.makeStream(of: String.self)
            self.lines = lines
            // The thread references only the socket, not this object.
            BlockingThread.run { [socket] in
                Self.readLines(from: socket.descriptor) { line.yield($0) }
                line.finish()
            }
        }

        deinit {
            kill()
        }

        private static func readLines(from socket: CInt, _ handle: (String) -> Void) {
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(socket, &buffer, buffer.count), count > 0 {
                text += buffer[..<count]
                while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                    handle(String(decoding: text[..<end], as: UTF8.self))
                    text.removeSubrange(...end)
                }
            }
        }

        /// Writes a line to the standard input of the process while it runs.
        public func order(_ line: String) {
            isKilled.withLock { isKilled in
                guard !isKilled else { return }
                let text = line + "\n"
                _ = send(socket.descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL))
            }
        }

        /// Kills the process immediately and returns when the process has ended.
        ///
        /// Further calls to ``kill()`` have no effect.
        public func kill() {
            isKilled.withLock { isKilled in
                guard !isKilled else { return }
                isKilled = true
                Glibc.kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }
        }
    }

    /// A thread for blocking calls, which would exhaust Swift's own thread pool.
    private final class BlockingThread: Sendable {
        private let body: @Sendable () -> Void

        private init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        /// Runs the closure on a new thread, which then ends.
        static func run(_ body: @escaping @Sendable () -> Void) {
            let thread = Unmanaged.passRetained(BlockingThread(body))
            var identifier = pthread_t()
            let code = pthread_create(
                &identifier,
                nil,
                { pointer in
                    guard let pointer else { return nil }
                    Unmanaged<BlockingThread>.fromOpaque(pointer).takeRetainedValue().body()
                    return nil
                },
                thread.toOpaque()
            )
            guard code == 0 else { return thread.release() }
            pthread_detach(identifier)
        }
    }

    extension CrashTestPeripheral {
        /// Runs the peripheral in a process that a ``CrashTestProcess`` has started.
        ///
        /// The peripheral runs until the test kills the process, or until the standard input is closed.
        ///
        /// - Parameters:
        ///   - backend: The backend under test.
        ///   - store: The store of the preserved state.
        ///   - interval: The shortest time between two saves of the state. The ``CrashTest`` must use the
        ///     same interval.
        /// - Throws: Any error that `Peripheral.run(on:restoringFrom:)` throws.
        public static func runAsProcess(
            on backend: some PeripheralBackend,
            restoringFrom store: any RestorationStore,
            savingEvery interval: Duration
        ) async throws {
            let (orders, order) = AsyncStream.makeStream(of: String.self)
            BlockingThread.run {
                while let line = readLine() { order.yield(line) }
                order.finish()
            }
            let killed = CrashTestPeripheral { line in
                let text = line + "\n"
                guard write(STDOUT_FILENO, text, text.utf8.count) == text.utf8.count else { exit(1) }
            }
            try await killed.run(on: backend, restoringFrom: store, savingEvery: interval, orders: orders)
        }
    }
#endif
