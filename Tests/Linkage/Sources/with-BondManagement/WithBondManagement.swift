import MinimalProgram
import PeripheralBondManagement
import PeripheralKit

@main
struct WithBondManagement {
    static func main() async throws {
        let bonds = BondManagementService(deleting: [.requestingDevice, .all]) { code, _ in code == [1] }
        try await runMinimalProgram(with: [bonds]) { _ in }
    }
}
