internal import PeripheralConformance
internal import PeripheralCyclingPower
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let cyclingPower = [cyclingPowerMeasurements, cyclingPowerProcedures]

    private static let cyclingPowerMeasurements = Scenario(
        "CyclingPower: a measurement arrives in parts that fit, without the fields that the central has masked"
    ) {
        let power = CyclingPowerService(
            measuring: [.pedalPowerBalance, .crankRevolutions, .extremeMagnitudes, .extremeAngles],
            location: .fixed(.leftCrank),
            isMaskable: true,
            onSetWheelRevolutions: { _ in }
        )
        return ScenarioRun(Peripheral("Crank") { power }, mtu: 23) { central, session in
            let controlPoint = try present(power.controlPoint)
            try expect("location", try await central.read(power.sensorLocation), is: .leftCrank)
            try await central.subscribe(to: power.measurement, knownTo: session)
            try await central.subscribe(to: controlPoint, knownTo: session)
            let measurement = CyclingPowerMeasurement(
                watts: 215,
                balance: .init(percent: 48.5, isOfLeftPedal: true),
                wheel: WheelRevolutions(70_000, at: .seconds(1.5)),
                crank: CrankRevolutions(1234, at: .seconds(1)),
                forces: .init(maximum: 300, minimum: -20),
                angles: .init(maximum: 90, minimum: 270)
            )
            try await power.notify(measurement, in: session)
            // 19 bytes; the angles are 3 more.
            var first = measurement
            first.angles = nil
            try expect("first", try await central.nextUpdate(of: power.measurement), is: first)
            let second = CyclingPowerMeasurement(watts: 215, angles: measurement.angles)
            try expect("second", try await central.nextUpdate(of: power.measurement), is: second)
            let masked = try await central.request(
                CyclingPowerRequest.mask([.extremeMagnitudes, .extremeAngles]),
                of: controlPoint
            )
            try expect("mask", masked, is: .init(.success, to: .maskMeasurementContent))
            try await power.notify(measurement, in: session)
            first.forces = nil
            try expect("masked", try await central.nextUpdate(of: power.measurement), is: first)
        }
    }

    private static let cyclingPowerProcedures = Scenario(
        "CyclingPower: a central reads a setting, and starts the offset compensation"
    ) {
        let power = CyclingPowerService(
            location: .fixed(.spider),
            hasVector: true,
            settings: [.crankLength(get: { 172.5 }, set: { _ in })],
            offsetCompensation: .init(companyID: 0xFFFF) { .init(-20, data: [1, 2]) }
        )
        return ScenarioRun(Peripheral("Spider") { power }) { central, session in
            let controlPoint = try present(power.controlPoint)
            let vector = try present(power.vector)
            try expect(
                "feature",
                try await central.read(power.feature),
                is: CyclingPowerFeature(rawValue: 1 << 9 | 1 << 12 | 1 << 19)
            )
            try await central.subscribe(to: controlPoint, knownTo: session)
            func answer(to operation: CyclingPowerOperation) async throws -> CyclingPowerResponse {
                try await central.request(CyclingPowerRequest(operation: operation), of: controlPoint)
            }
            try expect(
                "crank length",
                try await answer(to: .requestCrankLength),
                is: .init(.success, to: .requestCrankLength, parameter: [0x59, 0x01])
            )
            try expect(
                "offset",
                try await answer(to: .startEnhancedOffsetCompensation),
                is: .init(
                    .success,
                    to: .startEnhancedOffsetCompensation,
                    parameter: [0xEC, 0xFF, 0xFF, 0xFF, 2, 1, 2]
                )
            )
            try expect(
                "refusal",
                try await answer(to: .requestSamplingRate),
                is: .init(.operationNotSupported, to: .requestSamplingRate)
            )
            try await central.subscribe(to: vector, knownTo: session)
            let value = CyclingPowerVector(forces: [100, -5], firstAngle: 90)
            try await power.notify(vector: value, in: session)
            try expect("vector", try await central.nextUpdate(of: vector), is: value)
        }
    }
}
