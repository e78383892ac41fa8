import MinimalProgram
import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit

@main
struct WithIndoorBike {
    static func main() async throws {
        let ride = IndoorBikeData(kilometersPerHour: 31.5, rpm: 90, watts: 215)
        let control = FitnessMachineControl([.targetPower(watts: 0...400), .bikeSimulation]) { request, _ in
            if case .startOrResume = request { throw FitnessMachineResult.operationFailed }
        }
        let bike = FitnessMachineService(
            reporting: ride,
            trainingStatus: TrainingStatus(.idle),
            control: control
        )
        try await runMinimalProgram(with: [bike.service]) { session in
            try await bike.notify(ride, in: session)
            try await bike.update(to: TrainingStatus(.warmingUp, text: "Hills"), in: session)
            try await bike.notify(.pausedByUser, in: session)
            try await bike.takeControl(in: session)
        }
    }
}
