// swift-tools-version: 6.2
import PackageDescription

/// Returns a product of the package above, which the examples use like any other program.
func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-peripheral")
}

/// Returns the target of an example that runs through `ExampleSupport`.
func example(_ name: String, services: [String] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "ExampleSupport", product("PeripheralKit"), product("PeripheralTesting"),
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ] + services.map(product)
    )
}

let package = Package(
    name: "examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-peripheral", path: "..", traits: ["ServiceLifecycle", "Metrics"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "ExampleSupport",
            dependencies: [
                product("PeripheralKit"), product("PeripheralBlueZ"), product("PeripheralTesting"),
                product("PeripheralEmulator"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // The sources specific to firmware are in Firmware. They are tested here, where everything is built
        // for tests.
        .target(
            name: "FirmwareSupport",
            dependencies: [
                product("PeripheralKit"), product("PeripheralBlueZ"), product("PeripheralOneThread"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "FirmwareSupportTests", dependencies: ["FirmwareSupport"]),
        example("custom-lamp"),
        .testTarget(
            name: "CustomLampTests",
            dependencies: ["custom-lamp", product("PeripheralKit"), product("PeripheralTesting")]
        ),
        example("environmental-sensor", services: ["PeripheralEnvironmentalSensing"]),
        .testTarget(
            name: "EnvironmentalSensorTests",
            dependencies: [
                "environmental-sensor", product("PeripheralKit"), product("PeripheralTesting"),
                product("PeripheralEnvironmentalSensing"),
            ],
            exclude: ["Fixtures"]
        ),
        example("file-drop"),
        .testTarget(
            name: "FileDropTests",
            dependencies: [
                "ExampleSupport", "file-drop", product("PeripheralKit"), product("PeripheralTesting"),
            ]
        ),
        example(
            "find-me",
            services: ["PeripheralImmediateAlert", "PeripheralLinkLoss", "PeripheralTxPower"]
        ),
        example("indoor-bike", services: ["PeripheralFitnessMachine", "PeripheralIndoorBike"]),
        .testTarget(
            name: "IndoorBikeTests",
            dependencies: [
                "indoor-bike", product("PeripheralKit"), product("PeripheralFitnessMachine"),
                product("PeripheralIndoorBike"), product("PeripheralTesting"),
            ]
        ),
        example(
            "keyboard",
            services: ["PeripheralHID", "PeripheralBattery", "PeripheralDeviceInformation"]
        ),
        .testTarget(
            name: "KeyboardTests",
            dependencies: [
                "keyboard", product("PeripheralKit"), product("PeripheralHID"), product("PeripheralTesting"),
            ]
        ),
        example("sensor-gateway"),
        example("uart-console", services: ["PeripheralNordicUART"]),
        .testTarget(
            name: "UARTConsoleTests",
            dependencies: [
                "uart-console", product("PeripheralKit"), product("PeripheralNordicUART"),
                product("PeripheralTesting"),
            ]
        ),
        example("bthome-thermometer", services: ["PeripheralBTHome"]),
        example("device-battery", services: ["PeripheralBattery"]),
        .testTarget(
            name: "DeviceBatteryTests",
            dependencies: ["device-battery", product("PeripheralBattery")],
            exclude: ["Fixtures"]
        ),
        .executableTarget(
            name: "heart-rate-sensor",
            dependencies: [
                "ExampleSupport",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralHeartRate", package: "swift-peripheral"),
                .product(name: "PeripheralBattery", package: "swift-peripheral"),
                .product(name: "PeripheralDeviceInformation", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "PeripheralEmulator", package: "swift-peripheral"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "HeartRateSensorTests", dependencies: ["ExampleSupport", "heart-rate-sensor"]),
        .executableTarget(
            name: "text-transfer",
            dependencies: [
                "ExampleSupport",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "PeripheralEmulator", package: "swift-peripheral"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "TextTransferTests",
            dependencies: [
                "text-transfer",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
            ]
        ),
        .executableTarget(
            name: "door-lock",
            dependencies: [
                "ExampleSupport",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "PeripheralEmulator", package: "swift-peripheral"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "DoorLockTests",
            dependencies: [
                "door-lock",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
            ]
        ),
        .executableTarget(
            name: "lamp-service",
            dependencies: [
                "ExampleSupport",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralEmulator", package: "swift-peripheral"),
                .product(name: "PeripheralServiceLifecycle", package: "swift-peripheral"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "LampServiceTests",
            dependencies: [
                "lamp-service",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
            ]
        ),
        // Code that requires a trait is tested here, where traits are enabled.
        .testTarget(
            name: "PeripheralMetricsTests",
            dependencies: [
                .product(name: "PeripheralMetrics", package: "swift-peripheral"),
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]
        ),
    ]
)
