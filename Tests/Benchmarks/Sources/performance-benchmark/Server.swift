import CBenchmark
import Glibc

/// What went wrong with the measurement itself.
struct MeasurementError: Error, CustomStringConvertible {
    var description: String
}

/// A server in a process of its own, and its place on the bus.
struct Server {
    var process: pid_t
    /// The name on the bus.
    var name: String
    /// The paths of its characteristics, in the order of ``Value``.
    var paths: [String]

    func path(of value: Value) -> String { paths[value.rawValue] }

    /// The processor time so far, in nanoseconds.
    var processorTime: Int64 { benchmark_processor_time(process) }

    /// The resident memory, in bytes.
    var residentMemory: Int64 { benchmark_resident_memory(process) }

    func end() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}

/// The characteristics of the servers, in the order in which they are published.
enum Value: Int, CaseIterable {
    case constant20
    case constant512
    case handler20
    case handler512
    /// Readable with a handler, writable, writable without response, and with notifications.
    case versatile20
    case written512
    case updates
    /// A number that is written here asks for as many notifications.
    case count
}

/// The side that asks: a simulated bluetoothd in C.
struct Daemon {
    let handle: OpaquePointer
    /// The processor of all servers.
    let processor: Int32
    private let address: String
    private static let referenceName = "test.Server"

    init(address: String, serversOn processor: Int32) throws {
        guard let handle = benchmark_daemon_open(address) else {
            throw MeasurementError(description: "the private bus takes no connection")
        }
        self.handle = handle
        self.address = address
        self.processor = processor
        setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
    }

    func close() { benchmark_daemon_close(handle) }

    /// Starts the server in C.
    func startReference() throws -> Server {
        let process = try start(["c", address, Self.referenceName])
        guard benchmark_daemon_await_owner(handle, Self.referenceName) == 0 else {
            throw MeasurementError(description: "the server in C does not start")
        }
        return Server(
            process: process,
            name: Self.referenceName,
            paths: [
                "/value20", "/value512", "/value20", "/value512", "/value20", "/value512", "/updates",
                "/count",
            ]
        )
    }

    /// Starts a server in Swift, and returns when it is registered.
    func startPeripheral(_ arguments: String...) throws -> Server {
        benchmark_daemon_forget_peripheral(handle)
        let process = try start(arguments)
        guard benchmark_daemon_await_peripheral(handle) == 0, let name = benchmark_daemon_peripheral(handle)
        else {
            throw MeasurementError(description: "the peripheral did not register")
        }
        return Server(
            process: process,
            name: String(cString: name),
            paths: Value.allCases.compactMap {
                benchmark_daemon_characteristic(handle, $0.rawValue).map { String(cString: $0) }
            }
        )
    }

    private func start(_ role: [String]) throws -> pid_t {
        // The servers are built next to this program.
        let program =
            CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/") + "/benchmark-server"
        var arguments = ([program, "\(processor)"] + role).map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, nil, nil, &arguments, environ) == 0 else {
            throw MeasurementError(description: "\(program) cannot be started")
        }
        return process
    }
}

/// Measures two servers in turn, so that whatever disturbs the machine disturbs both.
func pairs<Sample>(
    _ count: Int,
    _ sample: (_ server: Server) throws -> Sample,
    _ swift: Server,
    _ reference: Server
) throws -> (swift: [Sample], reference: [Sample]) {
    // What is loaded, allocated and resolved once is not part of a call.
    for server in [swift, reference] { _ = try sample(server) }
    var result: (swift: [Sample], reference: [Sample]) = ([], [])
    for pair in 0..<count {
        // The one that comes second finds a warmer machine: take turns in that as well.
        if pair.isMultiple(of: 2) {
            result.swift.append(try sample(swift))
            result.reference.append(try sample(reference))
        } else {
            result.reference.append(try sample(reference))
            result.swift.append(try sample(swift))
        }
    }
    return result
}
