import MinimalProgram
import PeripheralKit
import PeripheralTxPower

@main
struct WithTxPower {
    static func main() async throws {
        let txPower = TxPowerService(TxPowerLevel(dBm: 4))
        try await runMinimalProgram(with: [txPower]) { session in
            _ = session
        }
    }
}
