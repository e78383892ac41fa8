import CBenchmark
import Glibc
import PeripheralEmulator

/// Compares the cost of a peripheral with the cost of the simplest server in C, and prints the goals.
///
/// The two servers run in processes of their own and wait for calls. This process asks the one and the other
/// in turn. It exits with 1 if a goal is missed.
///
/// Each has its processor: one is for this process and the bus, another one for the servers. Left to the
/// scheduler, a round trip takes either of two times that are half as long again apart, in C too, by which
/// processors happen to be woken. No median is of use then. What a server starts, threads included, inherits
/// its processor.
///
///     performance-benchmark [PAIRS] [PART…]
@main
struct PerformanceBenchmark {
    enum Part: String, CaseIterable {
        case requests
        case notifications
        case starts
        case centrals
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let pairs = arguments.first.flatMap { Int($0) } ?? 30
        let names = arguments.filter { Int($0) == nil }
        let parts = names.compactMap(Part.init(rawValue:))
        guard pairs > 0, parts.count == names.count else {
            print(
                "usage: performance-benchmark [PAIRS] [\(Part.allCases.map(\.rawValue).joined(separator: "|"))…]"
            )
            exit(2)
        }
        let processors = benchmark_available_processors()
        // Before anything else is started, so that all of it inherits this.
        guard benchmark_stay_on_processor(processors.first) == 0 else {
            throw MeasurementError(description: "processor \(processors.first) is not to be had")
        }
        print("Medians of \(pairs) pairs or rounds:\n\n\(Line.header)")
        var goals = 0
        var missed = 0
        for part in parts.isEmpty ? Part.allCases : parts {
            for line in try await lines(of: part, pairs: pairs, serversOn: processors.last) {
                print(line)
                fflush(nil)
                if line.goal != nil { goals += 1 }
                if !line.isGoalMet { missed += 1 }
            }
        }
        print("\n\(missed) of \(goals) goals are missed.")
        exit(missed == 0 ? 0 : 1)
    }

    private static func lines(of part: Part, pairs: Int, serversOn processor: Int32) async throws -> [Line] {
        if part == .centrals { return try await Centrals.lines(pairs) }
        let bus = try await PrivateBus()
        defer { bus.stop() }
        let daemon = try Daemon(address: bus.address, serversOn: processor)
        defer { daemon.close() }
        switch part {
        case .requests:
            return try compare(version: "5.82", daemon) { swift, reference in
                try Requests.all.flatMap { try $0.lines(pairs, of: swift, and: reference, askedBy: daemon) }
            }
        case .notifications:
            let overBus = try compare(version: "5.66", daemon) { swift, reference in
                try Notifications.overBus(pairs, of: swift, and: reference, takenBy: daemon)
            }
            let overSocket = try compare(version: "5.82", daemon) { swift, reference in
                try Notifications.overSocket(pairs, of: swift, and: reference, takenBy: daemon)
            }
            return [overBus, overSocket]
        case .starts:
            return try Starts.lines(pairs, watchedBy: daemon)
        case .centrals:
            return []
        }
    }

    private static func compare<Output>(
        version: String,
        _ daemon: Daemon,
        _ body: (_ swift: Server, _ reference: Server) throws -> Output
    ) throws -> Output {
        let reference = try daemon.startReference()
        defer { reference.end() }
        let swift = try daemon.startPeripheral("requests", version)
        defer { swift.end() }
        return try body(swift, reference)
    }
}
