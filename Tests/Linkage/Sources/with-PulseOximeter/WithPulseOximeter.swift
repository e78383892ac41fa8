import MinimalProgram
import PeripheralKit
import PeripheralPulseOximeter

@main
struct WithPulseOximeter {
    static func main() async throws {
        let store = PulseOximeterService.Store(records: { [] }, remove: { _ in })
        let oximeter = PulseOximeterService(spotCheck: [], continuous: [.fast], store: store)
        try await runMinimalProgram(with: [oximeter]) { session in
            let values = OxygenSaturation(percent: 97, pulseRate: 60)
            try await oximeter.notify(ContinuousMeasurement(values), in: session)
        }
    }
}
