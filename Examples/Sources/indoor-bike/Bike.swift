import ExampleSupport
import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import Synchronization

/// The bike: the declaration, what centrals do to it, and what it sends.
final class Bike: Sendable {
    let service: FitnessMachineService<IndoorBikeData>
    let peripheral: Peripheral
    private let rider: Rider

    init(name: String) {
        let rider = Rider()
        let service = FitnessMachineService(
            telling: SimulatedRider().measurement,
            trainingStatus: SimulatedRider().trainingStatus,
            // The specification wants the link encrypted; the trainers that apps know do not, and apps do not pair.
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
            // By this, apps know an indoor bike before they connect.
            Advertisement(
                services: [.fitnessMachine],
                serviceData: [.fitnessMachine: service.advertisedData()]
            )
        }
    }

    /// Sends what the bike measures, second by second.
    ///
    /// - Parameters:
    ///   - second: How long a second of the rider takes.
    ///   - session: The session.
    /// - Throws: When the session or the task ends.
    func ride(aSecondIn second: Duration, over session: PeripheralSession) async throws {
        while true {
            try await Task.sleep(for: second)
            try await service.notify(rider.rideOn(), in: session)
            // As it is now: a central may have changed it meanwhile.
            try await service.update(to: rider.trainingStatus, in: session)
        }
    }
}

/// The rider, whom centrals and the clock move.
private final class Rider: Sendable {
    private let state = Mutex(SimulatedRider())

    /// Carries out what a central demands.
    func obey(_ request: FitnessMachineRequest) throws {
        try state.withLock { rider in
            switch request {
            case .requestControl:
                Terminal.print("bike:  a phone has the control")
            case .reset:
                rider = SimulatedRider()
                Terminal.print("bike:  everything is at its beginning")
            case .startOrResume:
                guard rider.start() else { throw FitnessMachineResult.operationFailed }
                Terminal.print("bike:  the training goes on")
            case .pause:
                guard rider.pause() else { throw FitnessMachineResult.operationFailed }
                Terminal.print("bike:  the rider rests")
            case .stop:
                guard rider.stop() else { throw FitnessMachineResult.operationFailed }
                Terminal.print("bike:  the training is over")
            case .targetPower(let watts):
                rider.setting = .power(watts: watts)
                Terminal.print("bike:  holds \(watts) W")
            case .bikeSimulation(let road):
                rider.setting = .road(road)
                Terminal.print("bike:  simulates a grade of \(road.gradePercent) %")
            default:
                // Nothing else is declared.
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
