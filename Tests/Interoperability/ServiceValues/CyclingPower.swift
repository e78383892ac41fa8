import PeripheralCyclingPower
import PeripheralKit

extension ServiceValues {
    static let cyclingPower: [Sample] = [
        .sent(
            .cyclingPowerMeasurement,
            CyclingPowerMeasurement(watts: -1),
            is: ["flags": 0, "instantaneous_power": -1]
        ),
        .sent(
            .cyclingPowerMeasurement,
            CyclingPowerMeasurement(
                watts: 215,
                balance: .init(percent: 48.5, isOfLeftPedal: true),
                accumulatedTorque: .init(newtonMeters: 40.5, isOfCrank: true),
                wheel: WheelRevolutions(70_000, at: .seconds(1.5)),
                crank: CrankRevolutions(1234, at: .seconds(1.5)),
                forces: .init(maximum: 300, minimum: -20),
                angles: .init(maximum: 0xABC, minimum: 0x123),
                topDeadSpotAngle: 359,
                bottomDeadSpotAngle: 180,
                kilojoules: 512,
                offsetCompensationIndicator: true
            ),
            is: [
                "flags": 0x1F7F, "instantaneous_power": 215, "pedal_power_balance": 48.5,
                "accumulated_torque": 40.5, "accumulated_energy": 512, "cumulative_wheel_revolutions": 70_000,
                "last_wheel_event_time": 1.5, "cumulative_crank_revolutions": 1234,
                "last_crank_event_time": 1.5, "maximum_force_magnitude": 300, "minimum_force_magnitude": -20,
                "maximum_angle": 0xABC, "minimum_angle": 0x123, "top_dead_spot_angle": 359,
                "bottom_dead_spot_angle": 180,
            ]
        ),
        .sent(
            .cyclingPowerMeasurement,
            CyclingPowerMeasurement(watts: 100, torques: .init(maximum: 32.5, minimum: -0.03125)),
            is: [
                "flags": 0x80, "instantaneous_power": 100, "maximum_torque_magnitude": 32.5,
                "minimum_torque_magnitude": -0.03125,
            ]
        ),
        .sent(.cyclingPowerFeature, CyclingPowerFeature(rawValue: 0x2F_FFFF), is: ["features": 0x2F_FFFF]),
        .sent(
            .cyclingPowerVector,
            CyclingPowerVector(
                forces: [100, -5],
                crank: CrankRevolutions(1234, at: .seconds(1.5)),
                firstAngle: 90,
                direction: .lateral
            ),
            is: [
                "flags": 0x37,
                "crank_revolution_data": ["crank_revolutions": 1234, "last_crank_event_time": 1.5],
                "first_crank_measurement_angle": 90, "instantaneous_force_magnitude_array": [100, -5],
                "instantaneous_measurement_direction": 3,
            ]
        ),
        .sent(
            .cyclingPowerVector,
            CyclingPowerVector(torques: [32, -16]),
            is: [
                "flags": 0x08, "instantaneous_torque_magnitude_array": [1, -0.5],
                "instantaneous_measurement_direction": 0,
            ]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest.setWheelRevolutions(70_000),
            is: ["op_code": "SET_CUMULATIVE_VALUE", "cumulative_value": 70_000]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest.updateSensorLocation(.spider),
            is: ["op_code": "UPDATE_SENSOR_LOCATION", "sensor_location": 15]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest.mask([.pedalPowerBalance, .accumulatedEnergy]),
            is: ["op_code": "MASK_CYCLING_POWER_MEASUREMENT", "measurement_mask": 0x0101]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest(operation: .setCrankLength, parameter: [0x59, 0x01]),
            is: ["op_code": "SET_CRANK_LENGTH", "crank_length": 172.5]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest(operation: .setChainLength, parameter: [0x78, 0x05]),
            is: ["op_code": "SET_CHAIN_LENGTH", "chain_length": 1400]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest(operation: .setChainWeight, parameter: [0x04, 0x01]),
            is: ["op_code": "SET_CHAIN_WEIGHT", "chain_weight": 260]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest(operation: .setSpanLength, parameter: [0x90, 0x01]),
            is: ["op_code": "SET_SPAN_LENGTH", "span_length": 400]
        ),
        .written(
            .cyclingPowerControlPoint,
            CyclingPowerRequest(operation: .requestSamplingRate),
            is: ["op_code": "REQUEST_SAMPLING_RATE"]
        ),
        .sent(
            .cyclingPowerControlPoint,
            CyclingPowerResponse(.invalidParameter, to: .updateSensorLocation),
            is: [
                "op_code": "RESPONSE_CODE", "request_op_code": "UPDATE_SENSOR_LOCATION",
                "response_value": "INVALID_PARAMETER",
            ]
        ),
        .sent(
            .cyclingPowerControlPoint,
            CyclingPowerResponse(.operationFailed, to: .startEnhancedOffsetCompensation, parameter: [0x01]),
            is: [
                "op_code": "RESPONSE_CODE", "request_op_code": "START_ENHANCED_OFFSET_COMPENSATION",
                "response_value": "OPERATION_FAILED",
            ]
        ),
    ]
}
