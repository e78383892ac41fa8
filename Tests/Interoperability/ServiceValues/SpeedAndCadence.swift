import PeripheralCyclingSpeedAndCadence
import PeripheralKit
import PeripheralRunningSpeedAndCadence
import PeripheralSensorControl

extension ServiceValues {
    static let cyclingSpeedAndCadence: [Sample] = [
        .sent(.cscMeasurement, CSCMeasurement(), is: ["flags": 0]),
        .sent(
            .cscMeasurement,
            CSCMeasurement(
                wheel: WheelRevolutions(70_000, at: .seconds(1.5)),
                crank: CrankRevolutions(1234, at: .seconds(65_535) / 1024)
            ),
            is: [
                "flags": 3, "cumulative_wheel_revolutions": 70_000, "last_wheel_event_time": 1.5,
                "cumulative_crank_revolutions": 1234, "last_crank_event_time": 63.9990234375,
            ]
        ),
        .sent(
            .cscMeasurement,
            CSCMeasurement(crank: CrankRevolutions(.max, at: .seconds(65))),
            is: ["flags": 2, "cumulative_crank_revolutions": 65_535, "last_crank_event_time": 1]
        ),
        .sent(
            .cscFeature,
            [.wheelRevolutions, .multipleSensorLocations] as CSCFeature,
            is: [
                "features": 5, "wheel_revolution_data_supported": true,
                "multiple_sensor_locations_supported": true,
            ]
        ),
        .sent(
            .cscFeature,
            CSCFeature.crankRevolutions,
            is: ["features": 2, "crank_revolution_data_supported": true]
        ),
    ]

    static let runningSpeedAndCadence: [Sample] = [
        .sent(
            .rscMeasurement,
            RSCMeasurement(metersPerSecond: 3.5, cadence: 168, isRunning: true),
            is: [
                "flags": 4, "instantaneous_speed": 3.5, "instantaneous_cadence": 168, "is_running": true,
            ]
        ),
        .sent(
            .rscMeasurement,
            RSCMeasurement(metersPerSecond: 1.25, cadence: 90, strideLength: 1.27, totalDistance: 42_195.5),
            is: [
                "flags": 3, "instantaneous_speed": 1.25, "instantaneous_cadence": 90,
                "instantaneous_stride_length": 1.27, "total_distance": 42_195.5,
            ]
        ),
        .sent(
            .rscFeature,
            [.strideLength, .walkingOrRunning, .multipleSensorLocations] as RSCFeature,
            is: [
                "features": 21, "instantaneous_stride_length_supported": true,
                "walking_or_running_status_supported": true, "multiple_sensor_locations_supported": true,
            ]
        ),
        .sent(
            .rscFeature,
            [.totalDistance, .calibration] as RSCFeature,
            is: ["features": 10, "total_distance_supported": true, "calibration_procedure_supported": true]
        ),
    ]

    private static let locations: [(SensorLocation, Field)] = [
        (.other, "OTHER"), (.topOfShoe, "TOP_OF_SHOE"), (.inShoe, "IN_SHOE"), (.hip, "HIP"),
        (.frontWheel, "FRONT_WHEEL"), (.leftCrank, "LEFT_CRANK"), (.rightCrank, "RIGHT_CRANK"),
        (.leftPedal, "LEFT_PEDAL"), (.rightPedal, "RIGHT_PEDAL"), (.frontHub, "FRONT_HUB"),
        (.rearDropout, "REAR_DROPOUT"), (.chainstay, "CHAINSTAY"), (.rearWheel, "REAR_WHEEL"),
        (.rearHub, "REAR_HUB"), (.chest, "CHEST"), (.spider, "SPIDER"), (.chainRing, "CHAIN_RING"),
    ]

    static let sensorLocation: [Sample] = locations.map { .sent(.sensorLocation, $0, is: $1) }

    static let sensorControl: [Sample] = [
        .written(
            .scControlPoint,
            SensorControlRequest.setCumulativeValue(0x0102_0304),
            is: ["opcode": "SET_CUMULATIVE_VALUE", "parameter": "04030201"]
        ),
        .written(
            .scControlPoint,
            SensorControlRequest.startSensorCalibration,
            is: ["opcode": "START_SENSOR_CALIBRATION", "parameter": ""]
        ),
        .written(
            .scControlPoint,
            SensorControlRequest.updateSensorLocation(.rearHub),
            is: ["opcode": "UPDATE_SENSOR_LOCATION", "parameter": "0d"]
        ),
        .written(
            .scControlPoint,
            SensorControlRequest.requestSupportedSensorLocations,
            is: ["opcode": "REQUEST_SUPPORTED_SENSOR_LOCATIONS", "parameter": ""]
        ),
        .sent(
            .scControlPoint,
            SensorControlResponse(
                .success,
                to: .requestSupportedSensorLocations,
                locations: [.hip, .chest]
            ),
            is: ["opcode": "RESPONSE_CODE", "parameter": "0401030e"]
        ),
    ]
}
