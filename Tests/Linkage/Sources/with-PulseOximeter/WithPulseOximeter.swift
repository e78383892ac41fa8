import MinimalProgram
import PeripheralKit
import PeripheralPulseOximeter

@main
struct WithPulseOximeter {
    static func main() async throws {
        let store = PulseOximeterService.Store(records: { [] }, remove: { _ in })
        let oximeter = PulseOximeterService(
            spotCheck: [.time, .pulseAmplitudeIndex],
            continuous: [.fast, .slow, .pulseAmplitudeIndex],
            status: .validated,
            faults: .lowPerfusion,
            store: store
        )
        try await runMinimalProgram(with: [oximeter]) { session in
            let values = OxygenSaturation(percent: 97, pulseRate: 60)
            try await oximeter.notify(ContinuousMeasurement(values, fast: values, slow: values), in: session)
            try await oximeter.indicate(SpotCheckMeasurement(values), in: session)
        }
    }
}
