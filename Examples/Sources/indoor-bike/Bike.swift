import ExampleSupport
import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import Synchronization

/// The bike: its declaration, its reactions to centrals, and the data that it sends.
final class Bike: Sendable {
    let service: FitnessMachineService<IndoorBikeData>
    let peripheral: Peripheral
    private let rider: Rider

    init(name: String) {
        let rider = Rider()
        let service = FitnessMachineService(
            reporting: SimulatedRider().measurement,
            trainingStatus: SimulatedRider().trainingStatus,
            // The specification requires an encrypted link. Common trainers do not require one, and apps do
            // not pair.
            control: FitnessMachineControl(
                [.targetPower(watts: 0...400), .bikeSimulation],
                security: .open
            ) { request, _ in
                try rider.obey(request)
            }
        )
        self.rider = rider
        self.service = service
        peripheral = Peripheral(name) {
            service
            // Apps recognize an indoor bike by this before they connect.
            Advertisement(
                services: [.fitnessMachine],
                serviceData: [.fitnessMachine: service.advertisedData()]
            )
        }
    }

    /// Sends the measurements of the bike, second by second.
    ///
    /// - Parameters:
    ///   - second: The duration of a second of the simulation.
    ///   - session: The session.
    /// - Throws: The error that ends the session or the task.
    func ride(aSecondIn second: Duration, over session: PeripheralSession) async throws {
        while true {
            try await Task.sleep(for: second)
            try await service.notify(rider.rideOn(), in: session)
            // Sends the current status, which a central may have changed in the meantime.
            try await service.update(to: rider.trainingStatus, in: session)
        }
    }
}

/// The rider, which requests and the clock control.
private final class Rider: Sendable {
    private let state = Mutex(SimulatedRider())

    /// Carries out a central's request.
    func obey(_ request: FitnessMachineRequest) throws {
        try state.withLock { rider in
            switch request {
            case .requestControl:
                Terminal.print("bike:  a phone is in control")
            case .reset:
                rider = SimulatedRider()
                Terminal.print("bike:  everything is reset")
            case .startOrResume:
                guard rider.start() else { throw FitnessMachineResult.operationFailed }
                Terminal.print("bike:  the training runs")
            case .pause:
                guard rider.pause() else { throw FitnessMachineResult.operationFailed }
                Terminal.print("bike:  the rider rests")
            case .stop:
                guard rider.stop() else { throw FitnessMachineResult.operationFailed }
                Terminal.print("bike:  the training has ended")
            case .targetPower(let watts):
                rider.setting = .power(watts: watts)
                Terminal.print("bike:  holds \(watts) W")
            case .bikeSimulation(let road):
                rider.setting = .road(road)
                Terminal.print("bike:  simulates a grade of \(road.gradePercent) %")
            default:
                // No other requests are declared.
                throw FitnessMachineResult.opCodeNotSupported
            }
        }
    }

    var trainingStatus: TrainingStatus { state.withLock(\.trainingStatus) }

    func rideOn() -> IndoorBikeData {
        state.withLock { rider in
            rider.ride(for: 1)
            return rider.measurement
        }
    }
}
