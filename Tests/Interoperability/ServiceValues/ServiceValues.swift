/// Prints what the services send, and what they accept, as bytes and in the words of an independent decoder.
///
/// One line for each value: the service, whether it is sent by the peripheral, written by centrals or a
/// descriptor, its type, the bytes, and the fields as JSON.
@main
enum ServiceValues {
    static let all: [(service: String, samples: [Sample])] = [
        ("AutomationIO", automationIO),
        ("Battery", battery),
        ("BloodPressure", bloodPressure + bloodPressureBesides),
        ("BodyComposition", bodyComposition),
        ("BondManagement", bondManagement),
        ("CrossTrainer", crossTrainer),
        ("CurrentTime", currentTime),
        ("CyclingPower", cyclingPower),
        ("CyclingSpeedAndCadence", cyclingSpeedAndCadence),
        ("DeviceInformation", deviceInformation),
        ("EnvironmentalSensing", environmentalSensing),
        ("FitnessMachine", fitnessMachine),
        ("Glucose", glucose + glucoseFeatures),
        ("HID", hid),
        ("HealthThermometer", healthThermometer),
        ("HeartRate", heartRate),
        ("ImmediateAlert", immediateAlert),
        ("IndoorBike", indoorBike),
        ("LinkLoss", linkLoss),
        ("PhoneAlertStatus", phoneAlertStatus),
        ("PulseOximeter", pulseOximeter + pulseOximeterFeatures),
        ("RecordAccess", recordAccess),
        ("Rower", rower),
        ("RunningSpeedAndCadence", runningSpeedAndCadence),
        ("SensorControl", sensorControl),
        ("SensorLocation", sensorLocation),
        ("StairClimber", stairClimber),
        ("StepClimber", stepClimber),
        ("Treadmill", treadmill),
        ("TxPower", txPower),
        ("UserData", userData + userDataFields),
        ("WeightScale", weightScale),
    ]

    static func main() async throws {
        for (service, samples) in try await all + descriptors() {
            for sample in samples {
                print(service, sample)
            }
        }
    }
}
