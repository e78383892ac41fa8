import MinimalProgram
import PeripheralKit
import PeripheralLinkLoss

@main
struct WithLinkLoss {
    static func main() async throws {
        let linkLoss = LinkLossService { level, _ in print(level.rawValue) }
        try await runMinimalProgram(with: [linkLoss]) { _ in }
    }
}
