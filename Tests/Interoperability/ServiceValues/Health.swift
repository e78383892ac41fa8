import PeripheralBloodPressure
import PeripheralBodyComposition
import PeripheralHealthThermometer
import PeripheralKit
import PeripheralWeightScale

extension ServiceValues {
    private static let time = DateTime(year: 2026, month: 11, day: 22, hour: 1, minute: 2, second: 3)

    static let healthThermometer: [Sample] = [
        .sent(
            .temperatureMeasurement,
            TemperatureMeasurement(celsius: 36.6),
            is: ["temperature": 36.6, "unit": "CELSIUS", "flags": 0]
        ),
        .sent(
            .temperatureMeasurement,
            TemperatureMeasurement(fahrenheit: 98.6, timestamp: time, type: .tympanum),
            is: [
                "temperature": 98.6, "unit": "FAHRENHEIT", "flags": 7, "timestamp": "2026-11-22T01:02:03",
                "temperature_type": "TYMPANUM",
            ]
        ),
        .sent(
            .intermediateTemperature,
            TemperatureMeasurement(celsius: 36.1, type: .ear),
            is: ["temperature": 36.1, "unit": "CELSIUS", "flags": 4, "temperature_type": "EAR"]
        ),
        .sent(.temperatureType, TemperatureType.armpit, is: "ARMPIT"),
        .written(.measurementInterval, 3600 as UInt16, is: 3600),
    ]

    static let bloodPressure: [Sample] = [
        .sent(
            .bloodPressureMeasurement,
            BloodPressureMeasurement(systolic: 120, diastolic: 80, meanArterial: 93),
            is: ["systolic": 120, "diastolic": 80, "mean_arterial_pressure": 93, "unit": "MMHG", "flags": 0]
        ),
        .sent(
            .bloodPressureMeasurement,
            BloodPressureMeasurement(
                systolic: 16.1,
                diastolic: 10.7,
                meanArterial: 12.5,
                unit: .kPa,
                timestamp: time,
                pulseRate: 64,
                userID: 1,
                status: [.bodyMovement, .improperPosition]
            ),
            is: [
                "systolic": 16.1, "diastolic": 10.7, "mean_arterial_pressure": 12.5, "unit": "KPA",
                "flags": 31,
                "optional_fields": [
                    "timestamp": "2026-11-22T01:02:03", "pulse_rate": 64, "user_id": 1,
                    "measurement_status": 33,
                ],
            ]
        ),
    ]

    static let bloodPressureBesides: [Sample] = [
        .sent(
            .intermediateCuffPressure,
            IntermediateCuffPressure(150, pulseRate: 64),
            is: [
                "current_cuff_pressure": 150, "unit": "MMHG", "flags": 4,
                "optional_fields": ["pulse_rate": 64],
            ]
        ),
        .sent(
            .bloodPressureFeature,
            [.bodyMovementDetection, .measurementPositionDetection, .multipleBonds] as BloodPressureFeature,
            is: [
                "features_bitmap": 0x31, "body_movement_detection_support": true,
                "measurement_position_detection_support": true, "multiple_bond_support": true,
            ]
        ),
    ]

    static let weightScale: [Sample] = [
        .sent(
            .weightMeasurement,
            WeightMeasurement(kilograms: 72.505),
            is: ["weight": 72.505, "weight_unit": "KG", "measurement_units": "METRIC", "flags": 0]
        ),
        .sent(
            .weightMeasurement,
            WeightMeasurement(
                pounds: 160.01,
                timestamp: time,
                userID: 1,
                build: WeightMeasurement.Build(bodyMassIndex: 22.9, height: 70.1)
            ),
            is: [
                "weight": 160.01, "weight_unit": "LB", "measurement_units": "IMPERIAL", "flags": 15,
                "timestamp": "2026-11-22T01:02:03", "user_id": 1, "bmi": 22.9, "height": 70.1,
                "height_unit": "INCHES",
            ]
        ),
        .sent(
            .weightScaleFeature,
            WeightScaleFeature(
                hasTimestamps: true,
                hasBuild: true,
                weightResolution: .kilograms0_2,
                heightResolution: .meters0_005
            ),
            is: [
                "raw_value": 277, "timestamp_supported": true, "bmi_supported": true,
                "weight_measurement_resolution": "POINT_2_KG_OR_HALF_LB",
                "height_measurement_resolution": "POINT_005_M_OR_HALF_INCH",
            ]
        ),
    ]

    static let bodyComposition: [Sample] = [
        .sent(
            .bodyCompositionMeasurement,
            BodyCompositionMeasurement(
                bodyFat: 21.4,
                timestamp: time,
                userID: 2,
                basalMetabolism: 6000,
                muscle: 40.1,
                muscleMass: 30.005,
                fatFreeMass: 57,
                softLeanMass: 54.5,
                bodyWaterMass: 40,
                impedance: 512.3,
                weight: 72.5,
                height: 1.78
            ),
            is: [
                "body_fat_percentage": 21.4, "flags": 0x0FFE, "measurement_units": "METRIC",
                "timestamp": "2026-11-22T01:02:03", "user_id": 2, "basal_metabolism": 6000,
                "muscle_percentage": 40.1, "muscle_mass": 30.005, "muscle_mass_unit": "KG",
                "fat_free_mass": 57,
                "soft_lean_mass": 54.5, "body_water_mass": 40, "impedance": 512.3, "weight": 72.5,
                "height": 1.78,
            ]
        ),
        .sent(
            .bodyCompositionMeasurement,
            BodyCompositionMeasurement(bodyFat: 1, units: .imperial, weight: 160.01, height: 70.1),
            is: [
                "body_fat_percentage": 1, "flags": 0x0C01, "measurement_units": "IMPERIAL", "weight": 160.01,
                "height": 70.1,
            ]
        ),
        .sent(
            .bodyCompositionFeature,
            BodyCompositionFeature(
                [.userID, .impedance],
                massResolution: .kilograms0_2,
                heightResolution: .meters0_001
            ),
            is: [
                "features": 0x102, "multiple_users_supported": true, "impedance_supported": true,
                "mass_measurement_resolution": "KG_0_2_OR_LB_0_5",
                "height_measurement_resolution": "M_0_001_OR_INCH_0_1",
            ]
        ),
    ]
}
