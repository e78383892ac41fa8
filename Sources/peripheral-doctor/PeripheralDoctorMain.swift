internal import Glibc
internal import PeripheralDoctor

@main
struct PeripheralDoctorMain {
    static func main() async throws {
        let outcome = try await DoctorCommand.run(Array(CommandLine.arguments.dropFirst()))
        if !outcome.output.isEmpty { print(outcome.output) }
        if !outcome.complaint.isEmpty { complain(outcome.complaint) }
        exit(outcome.status)
    }

    private static func complain(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
