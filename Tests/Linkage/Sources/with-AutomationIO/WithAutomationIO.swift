import MinimalProgram
import PeripheralAutomationIO
import PeripheralKit

@main
struct WithAutomationIO {
    static func main() async throws {
        let button = AutomationDigital.input([.inactive], hasTriggers: true)
        let io = AutomationIOService(digitals: [button])
        try await runMinimalProgram(with: [io]) { session in
            try await io.update(button, to: [.active], in: session)
        }
    }
}
