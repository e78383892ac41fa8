import MinimalProgram
import PeripheralKit
import PeripheralNordicUART

@main
struct WithNordicUART {
    static func main() async throws {
        let uart = NordicUARTService()
        try await runMinimalProgram(with: [uart]) { session in
            let port = try uart.port(in: session)
            for await line in port.lines { try await port.write(line.text, to: line.central) }
        }
    }
}
