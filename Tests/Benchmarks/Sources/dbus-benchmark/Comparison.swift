import CBenchmark
import Glibc

/// What is read, and how much more than C it may cost.
struct Subject {
    var name: String
    var characteristic: Int
    var size: Int
    var latencyGoal: Double
    var processorGoal: Double

    static let all = [
        Subject(
            name: "static, 20 bytes",
            characteristic: 0,
            size: 20,
            latencyGoal: 1.15,
            processorGoal: 1.25
        ),
        Subject(
            name: "static, 512 bytes",
            characteristic: 1,
            size: 512,
            latencyGoal: 1.15,
            processorGoal: 1.25
        ),
        Subject(
            name: "handler, 20 bytes",
            characteristic: 2,
            size: 20,
            latencyGoal: 1.35,
            processorGoal: 1.25
        ),
        Subject(
            name: "handler, 512 bytes",
            characteristic: 3,
            size: 512,
            latencyGoal: 1.35,
            processorGoal: 1.25
        ),
    ]
}

/// What went wrong with the measurement itself.
struct MeasurementError: Error, CustomStringConvertible {
    var description: String
}

/// Both servers, and the daemon that asks them.
struct Comparison {
    private static let callsAlone = 400
    private static let callsInFlight = 2_000
    private static let inFlight = 32

    /// A server, as the daemon sees it and as the system does.
    private struct Server {
        var process: pid_t
        var name: String
        var paths: [String]
    }

    /// One batch of calls to one server.
    private struct Sample {
        /// The median time from call to answer with one call at a time, in nanoseconds.
        var latency: Double
        /// The server's processor time for each call with many in flight, in nanoseconds.
        var processorTime: Double
    }

    private let daemon: OpaquePointer
    private let swift: Server
    private let reference: Server

    init(address: String, serversOn processor: Int32) throws {
        guard let daemon = benchmark_daemon_open(address) else {
            throw MeasurementError(description: "the private bus takes no connection")
        }
        self.daemon = daemon
        let cProcess = try Self.start("serve-c", address: address, on: processor)
        free(benchmark_daemon_await_owner(daemon, DBusBenchmark.serverName))
        let swiftProcess = try Self.start("serve-swift", address: address, on: processor)
        guard benchmark_daemon_await_peripheral(daemon) == 0,
            let peripheral = benchmark_daemon_peripheral(daemon)
        else { throw MeasurementError(description: "the peripheral did not register") }
        let paths = (0..<4).compactMap {
            benchmark_daemon_characteristic(daemon, $0).map { String(cString: $0) }
        }
        guard paths.count == 4 else {
            throw MeasurementError(
                description: "the peripheral shows \(paths.count) characteristics instead of 4"
            )
        }
        swift = Server(process: swiftProcess, name: String(cString: peripheral), paths: paths)
        reference = Server(
            process: cProcess,
            name: DBusBenchmark.serverName,
            paths: ["/value20", "/value512", "/value20", "/value512"]
        )
    }

    func end() {
        for server in [swift, reference] {
            kill(server.process, SIGKILL)
            waitpid(server.process, nil, 0)
        }
        benchmark_daemon_close(daemon)
    }

    func measure(_ subject: Subject, pairs: Int) throws -> Row {
        // What is loaded, allocated and resolved once is not part of a call.
        for server in [swift, reference] { _ = try sample(server, subject) }
        var ours: [Sample] = []
        var theirs: [Sample] = []
        for pair in 0..<pairs {
            // Whoever comes second finds a warmer machine: take turns in that as well.
            if pair.isMultiple(of: 2) {
                ours.append(try sample(swift, subject))
                theirs.append(try sample(reference, subject))
            } else {
                theirs.append(try sample(reference, subject))
                ours.append(try sample(swift, subject))
            }
        }
        return Row(
            subject: subject,
            latency: Ratio(ours.map(\.latency), to: theirs.map(\.latency)),
            processorTime: Ratio(ours.map(\.processorTime), to: theirs.map(\.processorTime))
        )
    }

    private func sample(_ server: Server, _ subject: Subject) throws -> Sample {
        let path = server.paths[subject.characteristic]
        var latencies = [Int64](repeating: 0, count: Self.callsAlone)
        let before: Int64
        guard
            benchmark_daemon_read(daemon, server.name, path, subject.size, Self.callsAlone, 1, &latencies)
                == 0
        else { throw MeasurementError(description: "\(subject.name): a wrong answer") }
        before = benchmark_processor_time(server.process)
        guard
            benchmark_daemon_read(
                daemon,
                server.name,
                path,
                subject.size,
                Self.callsInFlight,
                Self.inFlight,
                nil
            ) == 0
        else { throw MeasurementError(description: "\(subject.name): a wrong answer") }
        let taken = benchmark_processor_time(server.process) - before
        return Sample(
            latency: median(latencies.map(Double.init)),
            processorTime: Double(taken) / Double(Self.callsInFlight)
        )
    }

    private static func start(_ role: String, address: String, on processor: Int32) throws -> pid_t {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = [
            strdup("dbus-benchmark"), strdup(role), strdup(address), strdup("\(processor)"), nil,
        ]
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawn(&process, "/proc/self/exe", nil, nil, &arguments, environ) == 0 else {
            throw MeasurementError(description: "the server cannot be started")
        }
        return process
    }
}
