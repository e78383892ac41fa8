import PeripheralCyclingSpeedAndCadence
import PeripheralKit
import PeripheralRunningSpeedAndCadence
import PeripheralSensorControl
import PeripheralTesting
import Synchronization
import Testing

/// The SC Control Point (Cycling Speed and Cadence Service, and Running Speed and Cadence Service 1.0.1,
/// section 3.4).
@Suite(.timeLimit(.minutes(1)))
struct SensorControlTests {
    private struct Failure: Error {}

    /// Where the tests' sensor is.
    private final class Bike: Sendable {
        private let state = Mutex(SensorLocation.frontWheel)

        var location: SensorLocation {
            get { state.withLock(\.self) }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// Bytes by hand, after section 3.4.
    static let requests: [(SensorControlRequest, [UInt8])] = [
        (.setCumulativeValue(0x0102_0304), [0x01, 0x04, 0x03, 0x02, 0x01]),
        (.startSensorCalibration, [0x02]),
        (.updateSensorLocation(.rearHub), [0x03, 0x0D]),
        (.requestSupportedSensorLocations, [0x04]),
        (SensorControlRequest(operation: .init(rawValue: 0xFF), parameter: [1]), [0xFF, 0x01]),
    ]

    @Test(arguments: requests)
    func requestsAreAsSpecified(request: SensorControlRequest, bytes: [UInt8]) throws {
        #expect(request.gattBytes == bytes)
        #expect(try SensorControlRequest(gattBytes: bytes) == request)
    }

    /// Bytes by hand, after section 3.4.
    static let responses: [(SensorControlResponse, [UInt8])] = [
        (.init(.success, to: .setCumulativeValue), [0x10, 0x01, 0x01]),
        (.init(.operationNotSupported, to: .startSensorCalibration), [0x10, 0x02, 0x02]),
        (.init(.invalidParameter, to: .updateSensorLocation), [0x10, 0x03, 0x03]),
        (.init(.operationFailed, to: .setCumulativeValue), [0x10, 0x01, 0x04]),
        (
            .init(.success, to: .requestSupportedSensorLocations, locations: [.other, .spider, .chainRing]),
            [0x10, 0x04, 0x01, 0x00, 0x0F, 0x10]
        ),
    ]

    @Test(arguments: responses)
    func responsesAreAsSpecified(response: SensorControlResponse, bytes: [UInt8]) throws {
        #expect(response.gattBytes == bytes)
        #expect(try SensorControlResponse(gattBytes: bytes) == response)
    }

    @Test func aResponseFitsTheLeastMTU() throws {
        let locations = (0..<18).map { SensorLocation(rawValue: $0) }
        let response = SensorControlResponse(
            .success,
            to: .requestSupportedSensorLocations,
            locations: locations
        )
        #expect(response.gattBytes.count == 20)
        #expect(response.gattBytes.last == 16)
    }

    @Test(arguments: [[], [0x10], [0x10, 0x01], [0x20, 0x01, 0x01]] as [[UInt8]])
    func whatIsNoResponseIsRefused(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try SensorControlResponse(gattBytes: bytes) }
    }

    @Test func aCentralSetsTheRevolutions() async throws {
        let counts = Recorded<UInt32>()
        let cycling = CyclingSpeedAndCadenceService { counts.append($0) }
        let controlPoint = try #require(cycling.controlPoint)
        try await Peripheral("Bike") { cycling }.test { central in
            try await central.subscribe(to: controlPoint)
            for count in [0, 70_000, UInt32.max] {
                let response = try await central.request(
                    SensorControlRequest.setCumulativeValue(count),
                    of: controlPoint
                )
                #expect(response == .init(.success, to: .setCumulativeValue))
            }
            #expect(counts.values == [0, 70_000, .max])
        }
    }

    @Test func aCentralMovesTheSensor() async throws {
        let bike = Bike()
        let cycling = CyclingSpeedAndCadenceService(
            crankOnlyAt: .movable(
                among: [.frontWheel, .rearWheel],
                current: { bike.location },
                move: { bike.location = $0 }
            )
        )
        let controlPoint = try #require(cycling.controlPoint)
        let location = try #require(cycling.sensorLocation)
        try await Peripheral("Bike") { cycling }.test { central in
            func answer(to request: SensorControlRequest) async throws -> SensorControlResponse {
                try await central.request(request, of: controlPoint)
            }
            try await central.subscribe(to: controlPoint)
            #expect(
                try await answer(to: .requestSupportedSensorLocations)
                    == .init(
                        .success,
                        to: .requestSupportedSensorLocations,
                        locations: [.frontWheel, .rearWheel]
                    )
            )
            #expect(
                try await answer(to: .updateSensorLocation(.rearWheel))
                    == .init(.success, to: .updateSensorLocation)
            )
            #expect(try await central.read(location) == .rearWheel)
            #expect(
                try await answer(to: .updateSensorLocation(.chest))
                    == .init(.invalidParameter, to: .updateSensorLocation)
            )
            #expect(try await central.read(location) == .rearWheel)
            #expect(
                try await answer(to: .setCumulativeValue(1))
                    == .init(.operationNotSupported, to: .setCumulativeValue)
            )
        }
    }

    /// What a foot pod without locations answers.
    static let refusals: [(SensorControlRequest, SensorControlResult)] = [
        (.init(operation: .setCumulativeValue, parameter: [1, 2, 3]), .invalidParameter),
        (.init(operation: .setCumulativeValue, parameter: [1, 2, 3, 4, 5]), .invalidParameter),
        (.setCumulativeValue(1), .operationFailed),
        (.setCumulativeValue(2), .invalidParameter),
        (.init(operation: .startSensorCalibration, parameter: [0]), .invalidParameter),
        (.startSensorCalibration, .success),
        (.updateSensorLocation(.inShoe), .operationNotSupported),
        (.requestSupportedSensorLocations, .operationNotSupported),
        (.init(operation: .init(rawValue: 0x00)), .operationNotSupported),
        (.init(operation: .init(rawValue: 0x05)), .operationNotSupported),
        (.init(operation: .init(rawValue: 0x10), parameter: [1, 1]), .operationNotSupported),
    ]

    @Test(arguments: refusals)
    func whatCannotBeDoneIsToldByTheResponse(
        request: SensorControlRequest,
        result: SensorControlResult
    ) async throws {
        let running = RunningSpeedAndCadenceService(
            location: .fixed(.inShoe),
            onSetTotalDistance: { meters in
                if meters == 0.1 { throw Failure() }
                throw SensorControlResult.invalidParameter
            },
            onCalibrate: {}
        )
        let controlPoint = try #require(running.controlPoint)
        try await Peripheral("Foot pod") { running }.test { central in
            try await central.subscribe(to: controlPoint)
            let response = try await central.request(request, of: controlPoint)
            #expect(response == .init(result, to: request.operation))
        }
    }

    /// The supported locations of a movable sensor are asked for, and set, by requests of the right length.
    @Test(arguments: [
        SensorControlRequest(operation: .requestSupportedSensorLocations, parameter: [1]),
        SensorControlRequest(operation: .updateSensorLocation),
        SensorControlRequest(operation: .updateSensorLocation, parameter: [4, 4]),
    ])
    func lengthsAreChecked(request: SensorControlRequest) async throws {
        let cycling = CyclingSpeedAndCadenceService(
            crankOnlyAt: .movable(among: [.frontWheel], current: { .frontWheel }, move: { _ in })
        )
        let controlPoint = try #require(cycling.controlPoint)
        try await Peripheral("Bike") { cycling }.test { central in
            try await central.subscribe(to: controlPoint)
            let response = try await central.request(request, of: controlPoint)
            #expect(response == .init(.invalidParameter, to: request.operation))
        }
    }

    /// Section 1.6.
    @Test func requestsAreRefusedByTheErrorsOfTheServices() async throws {
        let running = RunningSpeedAndCadenceService(onCalibrate: { try await Task.sleep(for: .seconds(3600)) }
        )
        let controlPoint = try #require(running.controlPoint)
        try await Peripheral("Foot pod") { running }.test { central in
            await #expect(throws: ATTError(rawValue: 0x81)) {
                try await central.write(SensorControlRequest.startSensorCalibration, to: controlPoint)
            }
            try await central.subscribe(to: controlPoint)
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write([], to: controlPoint)
            }
            try await central.write(SensorControlRequest.startSensorCalibration, to: controlPoint)
            await #expect(throws: ATTError(rawValue: 0x80)) {
                try await central.write(SensorControlRequest.startSensorCalibration, to: controlPoint)
            }
        }
    }
}
