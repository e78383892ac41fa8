import CBenchmark
import Glibc

/// What is read or sent, and how much more than C it may cost.
struct Subject {
    var name: String
    var characteristic: Int
    var size: Int
    /// `nil` for notifications, because no program waits for a single notification.
    var latencyGoal: Double?
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
        Subject(name: "notify, 20 bytes", characteristic: 4, size: 20, processorGoal: 2.0),
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
    private static let notifications: UInt32 = 20_000

    /// A server, as the daemon sees it and as the system does.
    private struct Server {
        var process: pid_t
        var name: String
        var paths: [String]
        /// Where its notifications come from.
        var socket: Int32 = -1
    }

    /// One batch of calls to one server, or of its notifications.
    private struct Sample {
        /// The median time from call to answer with one call at a time, in nanoseconds.
        var latency: Double?
        /// The server's processor time for each call with many in flight, or for each notification, in
        /// nanoseconds.
        var processorTime: Double
    }

    private let daemon: OpaquePointer
    private var swift: Server
    private var reference: Server

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
        let paths = (0..<6).compactMap {
            benchmark_daemon_characteristic(daemon, $0).map { String(cString: $0) }
        }
        guard paths.count == 6 else {
            throw MeasurementError(
                description: "the peripheral shows \(paths.count) characteristics instead of 6"
            )
        }
        swift = Server(process: swiftProcess, name: String(cString: peripheral), paths: paths)
        reference = Server(
            process: cProcess,
            name: DBusBenchmark.serverName,
            paths: ["/value20", "/value512", "/value20", "/value512", "/updates", "/count"]
        )
        swift.socket = benchmark_daemon_subscribe(daemon, swift.name, swift.paths[4])
        reference.socket = benchmark_daemon_subscribe(daemon, reference.name, reference.paths[4])
        guard swift.socket >= 0, reference.socket >= 0 else {
            throw MeasurementError(description: "a server gives out no socket")
        }
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
            // The one that comes second finds a warmer machine: take turns in that as well.
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
            latency: subject.latencyGoal.map { _ in
                Ratio(ours.compactMap(\.latency), to: theirs.compactMap(\.latency))
            },
            processorTime: Ratio(ours.map(\.processorTime), to: theirs.map(\.processorTime))
        )
    }

    private func sample(_ server: Server, _ subject: Subject) throws -> Sample {
        guard subject.latencyGoal != nil else { return try notifications(of: server, subject) }
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

    private func notifications(of server: Server, _ subject: Subject) throws -> Sample {
        let before = benchmark_processor_time(server.process)
        let outcome = benchmark_daemon_take_notifications(
            daemon,
            server.name,
            server.paths[5],
            server.socket,
            subject.size,
            Self.notifications
        )
        guard outcome == 0 else { throw MeasurementError(description: "\(subject.name): one is missing") }
        let taken = benchmark_processor_time(server.process) - before
        return Sample(latency: nil, processorTime: Double(taken) / Double(Self.notifications))
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
