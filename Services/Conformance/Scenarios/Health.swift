internal import PeripheralBloodPressure
internal import PeripheralBodyComposition
internal import PeripheralConformance
internal import PeripheralHealthThermometer
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralWeightScale

extension ServiceConformance {
    static let health = [temperature, temperatureInterval, bloodPressure, weight, bodyComposition]

    private static let temperature = Scenario(
        "HealthThermometer: a central gets intermediate values and the result"
    ) {
        let thermometer = HealthThermometerService(
            type: .ear,
            hasIntermediateTemperature: true,
            security: .open
        )
        return ScenarioRun(Peripheral("Thermometer") { thermometer }, mtu: 23) { central, session in
            let intermediate = try present(thermometer.intermediateTemperature)
            try await central.subscribe(to: intermediate, knownTo: session)
            try await central.subscribe(to: thermometer.measurement, knownTo: session)
            try expect("type", try await central.read(present(thermometer.type)), is: .ear)
            try await thermometer.notify(TemperatureMeasurement(celsius: 36.1), in: session)
            let value = try await central.nextUpdate(of: intermediate)
            try expect("value", value, is: TemperatureMeasurement(celsius: 36.1))
            let result = TemperatureMeasurement(
                fahrenheit: 98.6,
                timestamp: DateTime(year: 2026, month: 11, day: 22)
            )
            try await thermometer.indicate(result, in: session)
            try expect("result", try await central.nextUpdate(of: thermometer.measurement), is: result)
        }
    }

    private static let temperatureInterval = Scenario(
        "HealthThermometer: a central sets an interval within the valid range"
    ) {
        let set = Recorder<UInt16>()
        let thermometer = HealthThermometerService(
            interval: .settable(60, within: 1...3600) { set.record($0) },
            security: .open
        )
        return ScenarioRun(Peripheral("Thermometer") { thermometer }) { central, _ in
            let interval = try present(thermometer.measurementInterval)
            let range = try await central.read(.validRange, of: interval)
            try expect("range", range, is: [0x01, 0x00, 0x10, 0x0E])
            try await expectRefusal(of: "interval", by: .thermometerIntervalOutOfRange) {
                try await central.write(interval, 3601)
            }
            try await central.write(interval, 3600)
            try expect("interval", try await set.next(), is: 3600)
            try expect("interval", try await central.read(interval), is: 3600)
        }
    }

    private static let bloodPressure = Scenario(
        "BloodPressure: a central gets the cuff pressure and the result"
    ) {
        let service = BloodPressureService(
            detecting: .bodyMovement,
            hasIntermediateCuffPressure: true,
            security: .open
        )
        return ScenarioRun(Peripheral("Cuff") { service }, mtu: 23) { central, session in
            let intermediate = try present(service.intermediateCuffPressure)
            try await central.subscribe(to: intermediate, knownTo: session)
            try await central.subscribe(to: service.measurement, knownTo: session)
            try expect("feature", try await central.read(service.feature), is: .bodyMovementDetection)
            try await service.notify(IntermediateCuffPressure(150), in: session)
            let pressure = try await central.nextUpdate(of: intermediate)
            try expect("pressure", pressure, is: IntermediateCuffPressure(150))
            let result = BloodPressureMeasurement(
                systolic: 120,
                diastolic: 80,
                meanArterial: 93.3,
                timestamp: DateTime(year: 2026, month: 11, day: 22),
                pulseRate: 64,
                userID: 1,
                status: .bodyMovement
            )
            try await service.indicate(result, in: session)
            try expect("result", try await central.nextUpdate(of: service.measurement), is: result)
        }
    }

    private static let weight = Scenario("WeightScale: a weight is indicated") {
        let scale = WeightScaleService(
            WeightScaleFeature(hasBuild: true, weightResolution: .kilograms0_1),
            security: .open
        )
        return ScenarioRun(Peripheral("Scale") { scale }, mtu: 23) { central, session in
            try await central.subscribe(to: scale.measurement, knownTo: session)
            try expect(
                "resolution",
                try await central.read(scale.feature).weightResolution,
                is: .kilograms0_1
            )
            let build = WeightMeasurement.Build(bodyMassIndex: 22.9, height: 1.78)
            let result = WeightMeasurement(kilograms: 72.5, build: build)
            try await scale.indicate(result, in: session)
            try expect("result", try await central.nextUpdate(of: scale.measurement), is: result)
        }
    }

    private static let bodyComposition = Scenario(
        "BodyComposition: a measurement that does not fit arrives in two parts"
    ) {
        let feature = BodyCompositionFeature([
            .timestamp, .userID, .muscle, .muscleMass, .impedance, .weight, .height,
        ])
        let service = BodyCompositionService(feature, security: .open)
        return ScenarioRun(Peripheral("Scale") { service }, mtu: 23) { central, session in
            try await central.subscribe(to: service.measurement, knownTo: session)
            try expect("feature", try await central.read(service.feature), is: feature)
            let result = BodyCompositionMeasurement(
                bodyFat: 21.4,
                timestamp: DateTime(year: 2026, month: 11, day: 22),
                userID: 1,
                muscle: 40.1,
                muscleMass: 30.5,
                impedance: 512.3,
                weight: 72.5,
                height: 1.78
            )
            // The second indication follows the confirmation of the first, which a central sends
            // automatically.
            try await service.indicate(result, in: session)
            let first = try await central.nextUpdate(of: service.measurement)
            let second = try await central.nextUpdate(of: service.measurement)
            try expect("parts", [first.isPart, second.isPart], is: [true, true])
            try expect("fat", [first.bodyFat, second.bodyFat], is: [21.4, 21.4])
            try expect("users", [first.userID, second.userID], is: [1, nil])
            try expect("muscle", [first.muscle, second.muscle], is: [40.1, nil])
            try expect("weights", [first.weight, second.weight], is: [nil, 72.5])
        }
    }
}
