import CBenchmark
import Glibc
import PeripheralEmulator

/// Compares what a read costs here with what it costs in C, on one bus and in alternation.
///
/// The two servers run in processes of their own and wait for calls; this process asks the one and the other
/// in turn, so that whatever disturbs the machine disturbs both. Called with `serve-c` or `serve-swift`, this
/// program is one of the servers.
///
/// Each has its processor: one is for this process and the bus, another one for the two servers. Left to the
/// scheduler, a round trip takes either of two times that are half as long again apart, in C too, by which
/// processors happen to be woken; no median is of use then. What a server starts, threads included, inherits
/// its processor.
///
///     dbus-benchmark [pairs] [the beginning of the subjects' names]
@main
struct DBusBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch arguments.count > 1 ? arguments[1] : "" {
        case "serve-c":
            try becomeServer(on: arguments[3])
            exit(benchmark_run_server(arguments[2], serverName))
        case "serve-swift":
            try becomeServer(on: arguments[3])
            try await serveInSwift()
        default:
            let processors = benchmark_available_processors()
            // Before anything else is started, so that all of it inherits this.
            try stay(on: processors.first)
            let pairs = arguments.count > 1 ? Int(arguments[1]) ?? 30 : 30
            let subjects = Subject.all.filter { arguments.count < 3 || $0.name.hasPrefix(arguments[2]) }
            let isGoalMet = try await compare(subjects, pairs: pairs, serversOn: processors.last)
            exit(isGoalMet ? 0 : 1)
        }
    }

    static let serverName = "test.Server"

    private static func becomeServer(on processor: String) throws {
        benchmark_die_with_parent()
        try stay(on: Int32(processor) ?? -1)
    }

    private static func stay(on processor: Int32) throws {
        guard benchmark_stay_on_processor(processor) == 0 else {
            throw MeasurementError(description: "processor \(processor) is not to be had")
        }
    }

    static func compare(
        _ subjects: [Subject],
        pairs: Int,
        serversOn processor: Int32
    ) async throws -> Bool {
        let bus = try await PrivateBus()
        defer { bus.stop() }
        let comparison = try Comparison(address: bus.address, serversOn: processor)
        print("Swift relative to C, medians of \(pairs) pairs (quartiles):\n")
        print(Row.header)
        var isGoalMet = true
        for subject in subjects {
            let row = try comparison.measure(subject, pairs: pairs)
            print(row)
            isGoalMet = isGoalMet && row.isGoalMet
        }
        print(isGoalMet ? "\nAll goals are met." : "\nA goal is missed.")
        comparison.end()
        return isGoalMet
    }
}
