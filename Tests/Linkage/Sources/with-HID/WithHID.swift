import MinimalProgram
import PeripheralHID
import PeripheralKit

@main
struct WithHID {
    static func main() async throws {
        let keyboard = HIDKeyboard()
        try await runMinimalProgram(with: [keyboard]) { session in
            try await keyboard.type("Hello", in: session)
        }
    }
}
