import MinimalProgram
import PeripheralCyclingPower
import PeripheralKit

@main
struct WithCyclingPower {
    static func main() async throws {
        let get: @Sendable () async throws -> Double = { 172.5 }
        let set: @Sendable (Double) async throws -> Void = { _ in }
        let power = CyclingPowerService(
            measuring: [.pedalPowerBalance, .crankRevolutions, .extremeMagnitudes, .extremeAngles],
            location: .movable(among: [.leftCrank, .rightCrank], current: { .leftCrank }, move: { _ in }),
            isMaskable: true,
            hasVector: true,
            settings: [
                .crankLength(get: get, set: set),
                .chainLength(get: get, set: set),
                .chainWeight(get: get, set: set),
                .spanLength(get: get, set: set),
            ],
            offsetCompensation: .init(companyID: 0xFFFF) { .init(12) },
            samplingRate: 32,
            factoryCalibrationDate: DateTime(year: 2026, month: 11, day: 22),
            onSetWheelRevolutions: { _ in }
        )
        try await runMinimalProgram(with: [power.service]) { session in
            let crank = CrankRevolutions(1, at: .seconds(1))
            try await power.notify(CyclingPowerMeasurement(watts: 200, crank: crank), in: session)
            try await power.notify(vector: CyclingPowerVector(forces: [1, 2], crank: crank), in: session)
        }
    }
}
