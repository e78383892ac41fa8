import MinimalProgram
import PeripheralCyclingPower
import PeripheralKit

@main
struct WithCyclingPower {
    static func main() async throws {
        let power = CyclingPowerService(
            measuring: [.pedalPowerBalance, .crankRevolutions, .extremeMagnitudes, .extremeAngles],
            location: .movable(among: [.leftCrank, .rightCrank], current: { .leftCrank }, move: { _ in }),
            isMaskable: true,
            hasVector: true,
            settings: [
                .crankLength(get: { 172.5 }, set: { _ in }),
                .chainLength(get: { 1400 }, set: { _ in }),
                .chainWeight(get: { 260 }, set: { _ in }),
                .spanLength(get: { 400 }, set: { _ in }),
            ],
            offsetCompensation: .init(companyID: 0xFFFF) { .init(12) },
            samplingRate: 32,
            factoryCalibrationDate: DateTime(year: 2026, month: 11, day: 22),
            onSetWheelRevolutions: { _ in }
        )
        try await runMinimalProgram(with: [power.service]) { session in
            let crank = CrankRevolutions(1, at: .seconds(1))
            try await power.notify(CyclingPowerMeasurement(watts: 200, crank: crank), in: session)
            try await power.notify(vector: CyclingPowerVector(.forces([1, 2]), crank: crank), in: session)
        }
    }
}
