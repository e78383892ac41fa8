import CBenchmark
import Glibc
import PeripheralEmulator

/// Compares what a read costs here with what it costs in C, on one bus and in alternation.
///
/// The two servers run in processes of their own and wait for calls; this process asks the one and the other in turn,
/// so that whatever disturbs the machine disturbs both. Called with `serve-c` or `serve-swift`, this program is one of
/// the servers.
///
///     dbus-benchmark [pairs] [the beginning of the subjects' names]
@main
struct DBusBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch arguments.count > 1 ? arguments[1] : "" {
        case "serve-c":
            benchmark_die_with_parent()
            exit(benchmark_run_server(arguments[2], serverName))
        case "serve-swift":
            benchmark_die_with_parent()
            try await serveInSwift()
        default:
            let pairs = arguments.count > 1 ? Int(arguments[1]) ?? 30 : 30
            let subjects = Subject.all.filter { arguments.count < 3 || $0.name.hasPrefix(arguments[2]) }
            let isGoalMet = try await compare(subjects, pairs: pairs)
            exit(isGoalMet ? 0 : 1)
        }
    }

    static let serverName = "test.Server"

    static func compare(_ subjects: [Subject], pairs: Int) async throws -> Bool {
        let bus = try await PrivateBus()
        defer { bus.stop() }
        let comparison = try Comparison(address: bus.address)
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
