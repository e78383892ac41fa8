internal import PeripheralConformance
internal import PeripheralCrossTrainer
internal import PeripheralFitnessMachine
internal import PeripheralIndoorBike
internal import PeripheralKit
internal import PeripheralRower
internal import PeripheralStairClimber
internal import PeripheralStepClimber
internal import PeripheralTesting
internal import PeripheralTreadmill

extension ServiceConformance {
    static let fitnessMachine = [
        fitnessMachineData,
        fitnessMachineControl,
        fitnessMachineControlOfTwo,
        machine(
            "Treadmill",
            TreadmillData(
                kilometersPerHour: 12.34,
                averageKilometersPerHour: 10,
                meters: 1_234,
                inclinationPercent: -1.5,
                rampDegrees: 2.5,
                metersUp: 100.5,
                metersDown: 0.1,
                newtons: 100,
                watts: 300,
                workout: workout
            )
        ),
        machine(
            "CrossTrainer",
            CrossTrainerData(
                kilometersPerHour: 12.34,
                meters: 1_234,
                stepsPerMinute: 120,
                averageStepsPerMinute: 110,
                resistanceLevel: 5.5,
                watts: 300,
                workout: workout,
                isBackward: true
            )
        ),
        machine("StepClimber", StepClimberData(floors: 12, steps: 300, stepsPerMinute: 80, workout: workout)),
        machine("StairClimber", StairClimberData(floors: 12, stepsPerMinute: 80, workout: workout)),
        machine(
            "Rower",
            RowerData(
                strokesPerMinute: 28.5,
                strokes: 300,
                meters: 2_000,
                secondsPer500Meters: 115,
                watts: 230,
                resistanceLevel: 7,
                workout: workout
            )
        ),
    ]

    private static let workout = WorkoutData(
        kilocalories: 300,
        kilocaloriesPerHour: 600,
        kilocaloriesPerMinute: 10,
        bpm: 141,
        metabolicEquivalent: 8.5,
        elapsedSeconds: 3_600,
        remainingSeconds: 600
    )

    private static func machine<Data>(_ name: String, _ data: Data) -> Scenario
    where Data: FitnessMachineData {
        Scenario("\(name): a measurement arrives unchanged, in parts if it does not fit") {
            let machine = FitnessMachineService(reporting: data)
            return ScenarioRun(Peripheral("Machine") { machine }, mtu: 23) { central, session in
                try await central.subscribe(to: machine.data, knownTo: session)
                for _ in 0..<2 {
                    try await machine.notify(data, in: session)
                    for part in data.parts(upTo: 20) {
                        try expect("part", try await central.nextUpdate(of: machine.data), is: part)
                    }
                }
            }
        }
    }

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
        "FitnessMachine: data too long for a notification arrives in two, and a training status is shortened"
    ) {
        let bike = FitnessMachineService(reporting: ride, trainingStatus: TrainingStatus(.idle))
        return ScenarioRun(Peripheral("Bike") { bike }, mtu: 23) { central, session in
            let trainingStatus = try present(bike.trainingStatus)
            try await central.subscribe(to: bike.data, knownTo: session)
            try await central.subscribe(to: trainingStatus, knownTo: session)
            for _ in 0..<3 {
                try await bike.notify(ride, in: session)
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
        "FitnessMachine: the central in control sets a power, and loses control through a reset"
    ) {
        let watts = Recorder<Int>()
        let bike = FitnessMachineService(
            reporting: ride,
            control: FitnessMachineControl([.targetPower(watts: 0...400, step: 5)], security: .open) {
                request,
                _ in
                if case .targetPower(let target) = request { watts.record(target) }
            }
        )
        return ScenarioRun(Peripheral("Bike") { bike }) { central, session in
            let controlPoint = try present(bike.controlPoint)
            let status = try present(bike.status)
            try await central.subscribe(to: controlPoint, knownTo: session)
            try await central.subscribe(to: status, knownTo: session)
            let range = try await central.read(present(bike.range(.supportedPowerRange)))
            try expect("least power", range.watts.minimum, is: 0)
            try expect("most power", range.watts.maximum, is: 400)
            try expect("step", range.watts.step, is: 5)
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

    private static let fitnessMachineControlOfTwo = Scenario(
        "FitnessMachine: control passes to the central that requests it last, and the other is notified"
    ) {
        let control = FitnessMachineControl([.targetPower(watts: 0...400)], security: .open) { _, _ in }
        let bike = FitnessMachineService(reporting: ride, control: control)
        return ScenarioRun(Peripheral("Bike") { bike }) { central, session in
            let controlPoint = try present(bike.controlPoint)
            let status = try present(bike.status)
            func demand(
                _ request: FitnessMachineRequest,
                of central: any TestCentral,
                expecting result: FitnessMachineResult = .success
            ) async throws {
                let response = try await central.request(request, of: controlPoint)
                try expect("response", response, is: FitnessMachineResponse(result, to: request))
            }
            try await central.subscribe(to: controlPoint, knownTo: session)
            try await central.subscribe(to: status, knownTo: session)
            try await demand(.requestControl, of: central)
            let other = try await central.makeAnother()
            try await other.connect()
            try await other.subscribe(to: controlPoint)
            try await demand(.targetPower(watts: 200), of: other, expecting: .controlNotPermitted)
            try await demand(.requestControl, of: other)
            let loss = try await central.nextUpdate(of: status)
            try expect("status", loss, is: .controlPermissionLost)
            try await demand(.targetPower(watts: 200), of: other)
            let changed = try await central.nextUpdate(of: status)
            try expect("status", changed, is: .changed(.targetPower(watts: 200)))
            try await other.disconnect()
        }
    }
}
