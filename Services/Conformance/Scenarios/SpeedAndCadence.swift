internal import PeripheralConformance
internal import PeripheralCyclingSpeedAndCadence
internal import PeripheralKit
internal import PeripheralRunningSpeedAndCadence
internal import PeripheralSensorControl
internal import PeripheralTesting
private import Synchronization

extension ServiceConformance {
    static let speedAndCadence = [cyclingSpeedAndCadence, runningSpeedAndCadence]

    private static let cyclingSpeedAndCadence = Scenario(
        "CyclingSpeedAndCadence: a central sets a sensor's count and location, and gets measurements"
    ) {
        let sensor = Sensor()
        let cycling = CyclingSpeedAndCadenceService(
            hasCrank: true,
            location: .movable(
                among: [.frontHub, .rearHub],
                current: { sensor.location },
                move: { sensor.location = $0 }
            )
        ) { count in
            sensor.count = count
        }
        return ScenarioRun(Peripheral("Bike") { cycling }) { central, session in
            let controlPoint = try present(cycling.controlPoint)
            let location = try present(cycling.sensorLocation)
            try expect(
                "feature",
                try await central.read(cycling.feature),
                is: [.wheelRevolutions, .crankRevolutions, .multipleSensorLocations]
            )
            try await expectRefusal(of: "request", by: .sensorControlNotSubscribed) {
                try await central.write(SensorControlRequest.setCumulativeValue(1), to: controlPoint)
            }
            try await central.subscribe(to: controlPoint, knownTo: session)
            try await central.subscribe(to: cycling.measurement, knownTo: session)
            let locations = try await central.request(
                SensorControlRequest.requestSupportedSensorLocations,
                of: controlPoint
            )
            try expect(
                "locations",
                locations,
                is: .init(.success, to: .requestSupportedSensorLocations, locations: [.frontHub, .rearHub])
            )
            let move = try await central.request(
                SensorControlRequest.updateSensorLocation(.rearHub),
                of: controlPoint
            )
            try expect("move", move, is: .init(.success, to: .updateSensorLocation))
            try expect("location", try await central.read(location), is: .rearHub)
            let set = try await central.request(
                SensorControlRequest.setCumulativeValue(4711),
                of: controlPoint
            )
            try expect("set", set, is: .init(.success, to: .setCumulativeValue))
            let measurement = CSCMeasurement(
                wheel: WheelRevolutions(sensor.count, at: .seconds(2)),
                crank: CrankRevolutions(17, at: .seconds(1))
            )
            try await cycling.notify(measurement, in: session)
            let measured = try await central.nextUpdate(of: cycling.measurement)
            try expect("measurement", measured, is: measurement)
            try expect("count", measured.wheel?.count, is: 4711)
        }
    }

    private static let runningSpeedAndCadence = Scenario(
        "RunningSpeedAndCadence: one calibration runs at a time, and a central sets the distance"
    ) {
        let sensor = Sensor()
        let (calibrated, calibration) = AsyncStream.makeStream(of: Void.self)
        let running = RunningSpeedAndCadenceService(
            reportsRunning: true,
            location: .fixed(.inShoe),
            onSetTotalDistance: { sensor.count = UInt32($0) },
            onCalibrate: { for await _ in calibrated { break } }
        )
        return ScenarioRun(Peripheral("Foot pod") { running }) { central, session in
            let controlPoint = try present(running.controlPoint)
            let location = try present(running.sensorLocation)
            try expect("location", try await central.read(location), is: .inShoe)
            try await central.subscribe(to: controlPoint, knownTo: session)
            try await central.write(SensorControlRequest.startSensorCalibration, to: controlPoint)
            try await expectRefusal(of: "request", by: .sensorControlProcedureInProgress) {
                try await central.write(SensorControlRequest.setCumulativeValue(0), to: controlPoint)
            }
            calibration.yield()
            let calibrationResponse = try await central.nextUpdate(of: controlPoint)
            try expect("calibration", calibrationResponse, is: .init(.success, to: .startSensorCalibration))
            let set = try await central.request(
                SensorControlRequest.setCumulativeValue(10_000),
                of: controlPoint
            )
            try expect("set", set, is: .init(.success, to: .setCumulativeValue))
            try expect("distance", sensor.count, is: 1000)
            let refusal = try await central.request(
                SensorControlRequest.updateSensorLocation(.hip),
                of: controlPoint
            )
            try expect("refusal", refusal, is: .init(.operationNotSupported, to: .updateSensorLocation))
            try await central.subscribe(to: running.measurement, knownTo: session)
            let measurement = RSCMeasurement(
                metersPerSecond: 3.5,
                cadence: 168,
                totalDistance: 1000,
                isRunning: true
            )
            try await running.notify(measurement, in: session)
            let measured = try await central.nextUpdate(of: running.measurement)
            try expect("measurement", measured, is: measurement)
        }
    }
}

/// The values that a central has set.
private final class Sensor: Sendable {
    private struct State {
        var count: UInt32 = 0
        var location = SensorLocation.frontHub
    }

    private let state = Mutex(State())

    var count: UInt32 {
        get { state.withLock(\.count) }
        set { state.withLock { $0.count = newValue } }
    }

    var location: SensorLocation {
        get { state.withLock(\.location) }
        set { state.withLock { $0.location = newValue } }
    }
}
