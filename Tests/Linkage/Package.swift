// swift-tools-version: 6.2
import PackageDescription

/// The ready-made services; the program `with-<Name>` contains one of them.
///
/// The size of the program shows the cost of the service.
let services = [
    "AutomationIO",
    "Battery",
    "BloodPressure",
    "BodyComposition",
    "BondManagement",
    "CrossTrainer",
    "CurrentTime",
    "CyclingPower",
    "CyclingSpeedAndCadence",
    "DeviceInformation",
    "EnvironmentalSensing",
    "Glucose",
    "HID",
    "HealthThermometer",
    "HeartRate",
    "ImmediateAlert",
    "IndoorBike",
    "LinkLoss",
    "NordicUART",
    "PhoneAlertStatus",
    "PulseOximeter",
    "RecordAccess",
    "Rower",
    "RunningSpeedAndCadence",
    "StairClimber",
    "StepClimber",
    "Treadmill",
    "TxPower",
    "UserData",
    "WeightScale",
]

func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-peripheral")
}

let settings: [SwiftSetting] = [.enableUpcomingFeature("InternalImportsByDefault")]

let package = Package(
    name: "linkage",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-peripheral", path: "../.."),
        // As the firmware is built.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2", traits: ["MaxLogLevelNotice"]),
    ],
    targets: [
        .executableTarget(
            name: "minimal-peripheral",
            dependencies: [
                product("PeripheralKit"), product("PeripheralBlueZ"), product("PeripheralHeartRate"),
            ]
        ),
        .target(
            name: "MinimalProgram",
            dependencies: [
                product("PeripheralKit"), product("PeripheralBlueZ"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "without-service",
            dependencies: ["MinimalProgram"],
            swiftSettings: settings
        ),
    ]
        + services.map { name in
            .executableTarget(
                name: "with-\(name)",
                dependencies: ["MinimalProgram", product("PeripheralKit"), product("Peripheral\(name)")],
                swiftSettings: settings
            )
        }
)
