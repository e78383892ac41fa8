import MinimalProgram

@main
struct WithoutService {
    static func main() async throws {
        try await runMinimalProgram(with: []) { _ in }
    }
}
