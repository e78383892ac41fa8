import Glibc

/// This program in a second process.
struct ChildProcess {
    /// The error when the process cannot be started.
    struct StartError: Error {
        let code: Int32
    }

    private let identifier: pid_t

    /// Starts the door lock on a bus, with its state in a directory.
    static func doorLock(name: String, busAddress: String, stateDirectory: String) throws -> ChildProcess {
        try ChildProcess(
            arguments: ["door-lock", "--name", name],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS=\(busAddress)", "STATE_DIRECTORY=\(stateDirectory)"]
        )
    }

    private init(arguments: [String], environment: [String]) throws {
        var arguments: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, "/proc/self/exe", nil, nil, &arguments, &variables)
        guard code == 0 else { throw StartError(code: code) }
        self.identifier = identifier
    }

    /// Kills the process, like `kill -9`.
    func kill() {
        Glibc.kill(identifier, SIGKILL)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }
}
