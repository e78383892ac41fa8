import CBenchmark
import Glibc

/// Notifications of 20 bytes to one subscriber, as fast as they go.
struct Notifications {
    private static let count: UInt32 = 20_000

    /// Over a socket, as from BlueZ 5.76 on.
    static func overSocket(
        _ count: Int,
        of swift: Server,
        and reference: Server,
        takenBy daemon: Daemon
    ) throws -> Line {
        let sockets = [swift, reference].map {
            benchmark_daemon_subscribe_socket(daemon.handle, $0.name, $0.path(of: .updates))
        }
        defer { sockets.forEach { close($0) } }
        guard sockets.allSatisfy({ $0 >= 0 }) else {
            throw MeasurementError(description: "a server gives out no socket")
        }
        return try line("over a socket", count, of: swift, and: reference, goal: 1.5) { server in
            benchmark_daemon_take_from_socket(
                daemon.handle,
                server.name,
                server.path(of: .count),
                sockets[server.process == swift.process ? 0 : 1],
                20,
                Self.count
            )
        }
    }

    /// Over the bus, as before BlueZ 5.76.
    static func overBus(
        _ count: Int,
        of swift: Server,
        and reference: Server,
        takenBy daemon: Daemon
    ) throws -> Line {
        for server in [swift, reference] {
            guard benchmark_daemon_subscribe_bus(daemon.handle, server.name, server.path(of: .updates)) == 0
            else {
                throw MeasurementError(description: "a server takes no subscription")
            }
        }
        return try line("over the bus", count, of: swift, and: reference, goal: 1.15) { server in
            benchmark_daemon_take_from_bus(
                daemon.handle,
                server.name,
                server.path(of: .count),
                20,
                Self.count
            )
        }
    }

    private static func line(
        _ way: String,
        _ count: Int,
        of swift: Server,
        and reference: Server,
        goal: Double,
        _ take: (Server) -> Int32
    ) throws -> Line {
        let (ours, theirs) = try pairs(
            count,
            { server in
                let before = server.processorTime
                guard take(server) == 0 else {
                    throw MeasurementError(description: "notifications \(way): one is missing or wrong")
                }
                return Double(server.processorTime - before) / Double(Self.count)
            },
            swift,
            reference
        )
        return Line(
            "notification \(way)",
            "processor time",
            in: .microseconds,
            ours,
            of: theirs,
            goal: .atMost(goal)
        )
    }
}
