internal import PeripheralFitnessMachine
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let fitnessMachine = [fitnessMachineData, fitnessMachineControl]

    private static let ride = IndoorBikeData(
        kilometersPerHour: 31.5,
        averageKilometersPerHour: 30.25,
        rpm: 90,
        averageRPM: 88.5,
        meters: 1_234_567,
        watts: 215,
        workout: WorkoutData(kilocalories: 300, bpm: 141, elapsedSeconds: 3_600)
    )

    private static let fitnessMachineData = Scenario(
        "FitnessMachine: a ride arrives in two notifications where it does not fit one, the training status shortened"
    ) {
        let bike = FitnessMachineService(telling: ride, trainingStatus: TrainingStatus(.idle))
        return Trial(Peripheral("Bike") { bike }, mtu: 23) { central, session in
            let trainingStatus = try present(bike.trainingStatus)
            try await central.subscribe(to: bike.data, knownTo: session)
            try await central.subscribe(to: trainingStatus, knownTo: session)
            for _ in 0..<3 {
                try await bike.send(ride, in: session)
                let parts = ride.parts(upTo: 20)
                try expect("parts", parts.count, is: 2)
                for part in parts {
                    try expect("part", try await central.nextUpdate(of: bike.data), is: part)
                }
            }
            let text = "Ten minutes at 150 W, then hills"
            try await bike.update(to: TrainingStatus(.warmingUp, text: text), in: session)
            let notified = try await central.nextUpdate(of: trainingStatus)
            try expect("notified text", notified.text, is: "Ten minutes at 150")
            let read = try await central.read(trainingStatus)
            try expect("text", read.text, is: text)
        }
    }

    private static let fitnessMachineControl = Scenario(
        "FitnessMachine: whoever has the control sets a power, and loses the control by a reset"
    ) {
        let watts = Recorder<Int>()
        let bike = FitnessMachineService(
            telling: ride,
            control: FitnessMachineControl([.targetPower(watts: 0...400, step: 5)], security: .open) {
                request in
                if case .targetPower(let target) = request { watts.record(target) }
            }
        )
        return Trial(Peripheral("Bike") { bike }) { central, session in
            let controlPoint = try present(bike.controlPoint)
            let status = try present(bike.status)
            try await central.subscribe(to: controlPoint, knownTo: session)
            try await central.subscribe(to: status, knownTo: session)
            let range = try await central.read(present(bike.powerRange))
            try expect("range", range, is: SupportedRange(minimum: 0, maximum: 400, step: 5))
            for (request, result) in [
                (.targetPower(watts: 200), .controlNotPermitted), (.requestControl, .success),
                (.targetPower(watts: 401), .invalidParameter),
                (.targetedCadence(rpm: 90), .opCodeNotSupported),
                (.targetPower(watts: 200), .success), (.reset, .success),
                (.targetPower(watts: 100), .controlNotPermitted),
            ] as [(FitnessMachineRequest, FitnessMachineResult)] {
                let response = try await central.request(request, of: controlPoint)
                try expect("response", response, is: FitnessMachineResponse(result, to: request))
            }
            try expect("power", try await watts.next(), is: 200)
            try expect("powers", watts.count, is: 1)
            let changed = try await central.nextUpdate(of: status)
            try expect("status", changed, is: .changed(.targetPower(watts: 200)))
            try expect("status", try await central.nextUpdate(of: status), is: .reset)
        }
    }
}
