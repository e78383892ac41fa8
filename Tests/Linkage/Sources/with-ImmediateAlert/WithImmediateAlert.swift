import MinimalProgram
import PeripheralImmediateAlert
import PeripheralKit

@main
struct WithImmediateAlert {
    static func main() async throws {
        let immediateAlert = ImmediateAlertService { level in print(level.rawValue) }
        try await runMinimalProgram(with: [immediateAlert]) { _ in }
    }
}
