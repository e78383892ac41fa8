import PeripheralBondManagement
import PeripheralGlucose
import PeripheralKit
import PeripheralPulseOximeter
import PeripheralRecordAccess
import PeripheralUserData

extension ServiceValues {
    private static let time = DateTime(year: 2026, month: 11, day: 22, hour: 1, minute: 2, second: 3)

    static let pulseOximeter: [Sample] = [
        .sent(
            .plxSpotCheckMeasurement,
            SpotCheckMeasurement(
                OxygenSaturation(percent: 97, pulseRate: 63),
                time: time,
                isClockUnset: true,
                status: [.validated, .invalid],
                faults: [.lowPerfusion, .sensorDisconnected],
                pulseAmplitudeIndex: 2.5
            ),
            is: [
                "spot_check_flags": 31, "spo2": 97, "pulse_rate": 63, "timestamp": "2026-11-22T01:02:03",
                "measurement_status": 0x8080, "device_and_sensor_status": 0x8020,
                "pulse_amplitude_index": 2.5,
            ]
        ),
        .sent(
            .plxContinuousMeasurement,
            ContinuousMeasurement(
                OxygenSaturation(percent: 97, pulseRate: 63),
                fast: OxygenSaturation(percent: 96, pulseRate: 64),
                slow: OxygenSaturation(percent: 98, pulseRate: 62),
                status: .measurementOngoing,
                faults: .extendedDisplayUpdate,
                pulseAmplitudeIndex: 1
            ),
            is: [
                "continuous_flags": 31, "spo2": 97, "pulse_rate": 63, "spo2_fast": 96, "pulse_rate_fast": 64,
                "spo2_slow": 98, "pulse_rate_slow": 62, "measurement_status": 32,
                "device_and_sensor_status": 1, "pulse_amplitude_index": 1,
            ]
        ),
    ]

    static let pulseOximeterFeatures: [Sample] = [
        .sent(
            .plxFeatures,
            PulseOximeterFeatures(reportsTime: true, reportsFast: true, supportsMultipleBonds: true),
            is: 0x98
        ),
        .sent(
            .plxFeatures,
            PulseOximeterFeatures(
                status: .stored,
                faults: .lowPerfusion,
                storesMeasurements: true,
                reportsSlow: true,
                reportsPulseAmplitudeIndex: true
            ),
            is: 0x67
        ),
    ]

    static let recordAccess: [Sample] = [
        .written(
            .recordAccessControlPoint,
            RecordAccessRequest.report(.within(.sequenceNumber(1), .sequenceNumber(0x0203))),
            is: [
                "opcode": "REPORT_STORED_RECORDS", "operator": "WITHIN_RANGE_OF", "operand": "0101000302",
            ]
        ),
        .written(
            .recordAccessControlPoint,
            RecordAccessRequest.abort,
            is: ["opcode": "ABORT_OPERATION", "operator": "NULL", "operand": ""]
        ),
        .sent(
            .recordAccessControlPoint,
            RecordAccessResponse.number(258),
            is: [
                "opcode": "NUMBER_OF_STORED_RECORDS_RESPONSE", "operator": "NULL", "operand": "0201",
            ]
        ),
        .sent(
            .recordAccessControlPoint,
            RecordAccessResponse.result(.noRecordsFound, of: .report),
            is: ["opcode": "RESPONSE_CODE", "operator": "NULL", "operand": "0106"]
        ),
    ]

    static let glucose: [Sample] = [
        .sent(
            .glucoseMeasurement,
            GlucoseMeasurement(sequenceNumber: 7, baseTime: baseTime, status: nil),
            is: [
                "sequence_number": 7, "base_time": "2026-11-22T01:02:03", "flags": 0, "min_length": 10,
                "max_length": 17,
            ]
        ),
        .sent(
            .glucoseMeasurement,
            GlucoseMeasurement(
                sequenceNumber: 7,
                baseTime: baseTime,
                timeOffset: -60,
                concentration: .millimolesPerLiter(5.5),
                type: .capillaryWholeBlood,
                location: .finger,
                status: [.batteryLow, .timeFault]
            ),
            is: [
                "sequence_number": 7, "base_time": "2026-11-22T01:02:03", "flags": 15,
                "time_offset_minutes": -60, "glucose_concentration": 0.0055, "unit": "mmol/L",
                "glucose_type": "CAPILLARY_WHOLE_BLOOD", "sample_location": "FINGER", "sensor_status": 0x0801,
                "min_length": 10, "max_length": 17,
            ]
        ),
        .sent(
            .glucoseMeasurementContext,
            GlucoseContext(
                sequenceNumber: 7,
                meal: .fasting,
                circumstances: GlucoseCircumstances(tester: .user, health: .underStress),
                exercise: .init(seconds: 1800, intensity: 60)
            ),
            is: [
                "sequence_number": 7, "flags": 14, "meal": "FASTING", "tester": "SELF",
                "health": "UNDER_STRESS", "exercise_duration_seconds": 1800,
                "exercise_intensity_percent": 60,
            ]
        ),
    ]

    static let glucoseFeatures: [Sample] = [
        .sent(
            .glucoseFeature,
            [.lowBatteryDetection, .resultHighLowDetection, .multipleBonds] as GlucoseFeature,
            is: [
                "features_bitmap": 0x0421, "low_battery_detection": true, "sensor_result_high_low": true,
                "multiple_bond_support": true, "enabled_features": [1, 0x20, 0x400], "feature_count": 3,
            ]
        )
    ]

    static let userData: [Sample] = [
        .written(
            .userControlPoint,
            UserControlRequest.consent(user: 7, consentCode: 4711),
            is: ["opcode": "CONSENT", "parameter": "076712"]
        ),
        .written(
            .userControlPoint,
            UserControlRequest.deleteUserData,
            is: ["opcode": "DELETE_USER_DATA", "parameter": ""]
        ),
        .sent(
            .userControlPoint,
            UserControlResponse(.success, to: .registerNewUser, user: 7),
            is: ["opcode": "RESPONSE", "parameter": "010107"]
        ),
        .written(.databaseChangeIncrement, 0x0102_0304 as UInt32, is: 0x0102_0304),
        .sent("2a98", BodyWeight(kilograms: 70.5), is: 70.5),
        .sent("2a8e", BodyLength(meters: 1.83), is: 1.83),
        .sent("2a8c", Gender.female, is: "FEMALE"),
    ]

    static let bondManagement: [Sample] = [
        .sent(.bondManagementFeature, BondManagementFeature(rawValue: 0x030030), is: 0x030030),
        .written(
            .bondManagementControlPoint,
            BondManagementRequest(delete: .requestingDevice),
            is: "DELETE_BOND_OF_REQUESTING_DEVICE_LE"
        ),
        .written(
            .bondManagementControlPoint,
            BondManagementRequest(delete: .all, of: .both),
            is: "DELETE_ALL_BONDS_ON_SERVER_BR_EDR_LE"
        ),
        .written(
            .bondManagementControlPoint,
            BondManagementRequest(delete: .allButRequestingDevice),
            is: "DELETE_ALL_BUT_ACTIVE_BOND_ON_SERVER_LE"
        ),
    ]

    private static let baseTime: DateTime = {
        guard let time else { preconditionFailure("the time is one") }
        return time
    }()
}
