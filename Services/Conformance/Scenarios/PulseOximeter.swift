internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralPulseOximeter
internal import PeripheralRecordAccess
internal import PeripheralTesting

extension ServiceConformance {
    static let pulseOximeter = [continuousMeasurements, storedSpotChecks]

    private static let values = OxygenSaturation(percent: 97, pulseRate: 63)

    private static let continuousMeasurements = Scenario(
        "PulseOximeter: continuous measurements arrive"
    ) {
        let oximeter = PulseOximeterService(
            continuous: [.fast, .slow, .pulseAmplitudeIndex],
            status: .validated,
            faults: .lowPerfusion,
            security: .open
        )
        return ScenarioRun(Peripheral("Oximeter") { oximeter }, mtu: 23) { central, session in
            let continuous = try present(oximeter.continuous)
            try await central.subscribe(to: continuous, knownTo: session)
            for measurement in [
                ContinuousMeasurement(values, status: [], faults: []),
                ContinuousMeasurement(
                    values,
                    fast: values,
                    slow: values,
                    status: .validated,
                    faults: .lowPerfusion,
                    pulseAmplitudeIndex: 2.5
                ),
            ] {
                try await oximeter.notify(measurement, in: session)
                try expect("measurement", try await central.nextUpdate(of: continuous), is: measurement)
            }
        }
    }

    private static let storedSpotChecks = Scenario(
        "PulseOximeter: stored measurements are indicated one by one, before the response"
    ) {
        let oximeter = PulseOximeterService(
            spotCheck: [],
            status: .validated,
            store: .init(
                records: {
                    (1...3).map { SpotCheckMeasurement(.init(percent: .init(Double($0)), pulseRate: 60)) }
                },
                remove: { _ in }
            ),
            security: .open
        )
        return ScenarioRun(Peripheral("Oximeter") { oximeter }, mtu: 23) { central, session in
            let spotCheck = try present(oximeter.spotCheck)
            let recordAccess = try present(oximeter.recordAccess)
            try await central.subscribe(to: spotCheck, knownTo: session)
            try await central.subscribe(to: recordAccess, knownTo: session)
            try await central.write(RecordAccessRequest.report(.all), to: recordAccess)
            for percent in 1...3 {
                let expected = SpotCheckMeasurement(
                    .init(percent: .init(Double(percent)), pulseRate: 60),
                    status: .stored
                )
                let received = try await central.nextUpdate().update.value
                try expect("measurement", try SpotCheckMeasurement(gattBytes: received), is: expected)
            }
            let response = try await central.nextUpdate().update.value
            let success = RecordAccessResponse.result(.success, of: .report)
            try expect("response", try RecordAccessResponse(gattBytes: response), is: success)
        }
    }
}
