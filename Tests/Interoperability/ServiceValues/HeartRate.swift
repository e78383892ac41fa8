import PeripheralHeartRate
import PeripheralKit

extension ServiceValues {
    static let heartRate: [Sample] = [
        .sent(
            .heartRateMeasurement,
            HeartRateMeasurement(bpm: 72),
            is: ["flags": 0x00, "heart_rate": 72, "sensor_contact": "NOT_SUPPORTED"]
        ),
        .sent(
            .heartRateMeasurement,
            HeartRateMeasurement(bpm: 255, sensorContact: .notDetected),
            is: ["flags": 0x04, "heart_rate": 255, "sensor_contact": "NOT_DETECTED"]
        ),
        .sent(
            .heartRateMeasurement,
            HeartRateMeasurement(
                bpm: 256,
                sensorContact: .detected,
                energyExpended: 300,
                rrIntervals: [RRInterval(rawValue: 512), RRInterval(rawValue: 1025)]
            ),
            is: [
                "flags": 0x1F, "heart_rate": 256, "sensor_contact": "DETECTED", "energy_expended": 300,
                "rr_intervals": [0.5, 1.0009765625],
            ]
        ),
        .sent(.bodySensorLocation, BodySensorLocation.other, is: "OTHER"),
        .sent(.bodySensorLocation, BodySensorLocation.chest, is: "CHEST"),
        .sent(.bodySensorLocation, BodySensorLocation.wrist, is: "WRIST"),
        .sent(.bodySensorLocation, BodySensorLocation.finger, is: "FINGER"),
        .sent(.bodySensorLocation, BodySensorLocation.hand, is: "HAND"),
        .sent(.bodySensorLocation, BodySensorLocation.earLobe, is: "EAR_LOBE"),
        .sent(.bodySensorLocation, BodySensorLocation.foot, is: "FOOT"),
        .written(.heartRateControlPoint, HeartRateCommand.resetEnergyExpended, is: "RESET_ENERGY_EXPENDED"),
    ]
}
