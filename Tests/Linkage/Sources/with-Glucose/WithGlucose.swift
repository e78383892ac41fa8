import MinimalProgram
import PeripheralGlucose
import PeripheralKit

@main
struct WithGlucose {
    static func main() async throws {
        let glucose = GlucoseService(
            records: { [] },
            remove: { _ in },
            hasContext: true,
            detecting: .batteryLow,
            supportsMultipleBonds: true
        )
        try await runMinimalProgram(with: [glucose]) { _ in }
    }
}
