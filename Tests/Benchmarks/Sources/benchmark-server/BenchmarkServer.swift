import CBenchmark
import Glibc
import PeripheralBlueZ

/// The servers that the benchmark measures, each in a process of its own.
///
///     benchmark-server PROCESSOR c ADDRESS NAME | requests VERSION | characteristics COUNT
@main
struct BenchmarkServer {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        benchmark_die_with_parent()
        guard arguments.count > 2, let processor = Int32(arguments[1]),
            benchmark_stay_on_processor(processor) == 0
        else { exit(2) }
        let argument = arguments[3]
        switch arguments[2] {
        case "c": exit(benchmark_run_server(argument, arguments[4]))
        case "requests": try await serveRequests(version: BlueZVersion(stringLiteral: argument))
        case "characteristics": try await serve(characteristics: Int(argument) ?? 1)
        default: exit(2)
        }
    }
}
