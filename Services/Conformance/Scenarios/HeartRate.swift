internal import PeripheralConformance
internal import PeripheralHeartRate
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let heartRate = [heartRateMeasurement, heartRateControlPoint]

    private static let heartRateMeasurement = Scenario("HeartRate: measurements arrive unchanged") {
        let heartRate = HeartRateService(location: .chest, onResetEnergyExpended: {})
        return ScenarioRun(Peripheral("Pulse") { heartRate }, mtu: 23) { central, session in
            try await central.subscribe(to: heartRate.measurement, knownTo: session)
            try expect("location", try await central.read(present(heartRate.bodySensorLocation)), is: .chest)
            for measurement in [
                HeartRateMeasurement(bpm: 72),
                HeartRateMeasurement(bpm: 256, sensorContact: .notDetected, energyExpended: .max),
                HeartRateMeasurement(
                    bpm: 255,
                    sensorContact: .detected,
                    rrIntervals: (0..<9).map { RRInterval(rawValue: 1024 + $0) }
                ),
            ] {
                try await heartRate.notify(measurement, in: session)
                let received = try await central.nextUpdate(of: heartRate.measurement)
                try expect("measurement", received, is: measurement)
            }
        }
    }

    private static let heartRateControlPoint = Scenario(
        "HeartRate: a central resets the energy expended, and any other command is refused"
    ) {
        let isReset = Flag()
        let heartRate = HeartRateService { isReset.set(true) }
        return ScenarioRun(Peripheral("Pulse") { heartRate }) { central, _ in
            let controlPoint = try present(heartRate.controlPoint)
            try await expectRefusal(of: "command", by: .heartRateControlPointNotSupported) {
                try await central.write(controlPoint, HeartRateCommand(rawValue: 0x02))
            }
            try expect("reset", isReset.isSet, is: false)
            try await central.write(controlPoint, .resetEnergyExpended)
            try expect("reset", isReset.isSet, is: true)
        }
    }
}
