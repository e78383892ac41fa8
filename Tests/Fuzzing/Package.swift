// swift-tools-version: 6.2
import PackageDescription

/// The ready-made services with decoders of their own.
let services = [
    "AutomationIO", "Battery", "BloodPressure", "BodyComposition", "BondManagement", "CrossTrainer",
    "CurrentTime",
    "CyclingPower", "CyclingSpeedAndCadence", "DeviceInformation", "EnvironmentalSensing", "FitnessMachine",
    "Glucose", "HID", "HealthThermometer", "HeartRate", "ImmediateAlert", "IndoorBike", "NordicUART",
    "PhoneAlertStatus",
    "PulseOximeter", "RecordAccess", "Rower", "RunningSpeedAndCadence", "SensorControl", "SensorLocation",
    "StairClimber", "StepClimber", "Treadmill", "TxPower", "UserData", "WeightScale",
]

/// `PLANTED_FAULTS=1` builds a fault into each entrance, which the fuzzer has to find.
let faults: [SwiftSetting] = Context.environment["PLANTED_FAULTS"] == nil ? [] : [.define("PLANTED_FAULTS")]

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-peripheral", path: "../..")],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: ["CFuzzer"]
                + (["Core", "Kit", "BlueZ"] + services).map {
                    .product(name: "Peripheral\($0)", package: "swift-peripheral")
                },
            swiftSettings: faults
        ),
    ]
)
