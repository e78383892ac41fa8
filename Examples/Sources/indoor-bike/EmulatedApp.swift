import ExampleSupport
import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import PeripheralTesting

extension Bike {
    /// Acts as a phone with a training app.
    func train(with phone: VirtualCentral) async throws {
        guard let controlPoint = service.controlPoint, let status = service.status,
            let powerRange = service.range(.supportedPowerRange)
        else { return }
        func demand(_ request: FitnessMachineRequest) async throws {
            let response = try await phone.request(request, of: controlPoint)
            guard response.result == .success else { throw response.result }
        }
        try await phone.connect()
        let watts = try await phone.read(powerRange).watts
        Terminal.print(
            "phone: the power can be set to \(Int(watts.minimum)) through \(Int(watts.maximum)) W"
        )
        try await phone.subscribe(to: controlPoint)
        try await phone.subscribe(to: status)
        try await phone.subscribe(to: service.data)
        try await demand(.requestControl)
        try await demand(.startOrResume)
        try await demand(.targetPower(watts: 250))
        try await watch(phone) { ($0.watts ?? 0) >= 249 }
        Terminal.print("phone: the rider has reached 250 W")
        try await demand(.bikeSimulation(BikeSimulation(gradePercent: 6)))
        try await watch(phone) { ($0.watts ?? 0) > 345 && ($0.kilometersPerHour ?? 0) < 22 }
        Terminal.print("phone: the hill has slowed the rider down")
        try await demand(.pause)
        for try await status in phone.updates(of: status) where status == .pausedByUser { break }
        Terminal.print("phone: is notified of the pause")
    }

    /// Shows the ride until it meets a condition.
    private func watch(_ phone: VirtualCentral, until isDone: (IndoorBikeData) -> Bool) async throws {
        for try await ride in phone.updates(of: service.data) {
            let speed = (ride.kilometersPerHour ?? 0).rounded()
            Terminal.print(
                "phone: \(Int(speed)) km/h, \(Int(ride.rpm ?? 0)) rpm, \(ride.watts ?? 0) W, "
                    + "\(ride.workout.bpm ?? 0) bpm, \(ride.meters ?? 0) m"
            )
            if isDone(ride) { return }
        }
    }
}
