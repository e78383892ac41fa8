// swift-tools-version: 6.2
import PackageDescription

// Swift 6.2 does not know this warning, and its main actor is Dispatch's main queue, which the event loop
// serves.
#if compiler(>=6.3)
    let warningSettings: [SwiftSetting] = [.treatWarning("ExplicitSendable", as: .error)]
    let eventLoopLibraries: [LinkerSetting] = []
#else
    let warningSettings: [SwiftSetting] = []
    let eventLoopLibraries: [LinkerSetting] = [.linkedLibrary("dispatch", .when(platforms: [.linux]))]
#endif

/// Every Swift target: Swift 6 mode plus the upcoming features that it leaves off.
let swiftSettings: [SwiftSetting] =
    warningSettings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
    ]

/// The targets that touch C: each unsafe expression is marked as such.
let cFacingSettings: [SwiftSetting] = swiftSettings + [.strictMemorySafety()]

/// The ready-made services, in `Services/`: each a target and a product of its own, `Peripheral` and its
/// name.
let serviceNames = [
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
    "FitnessMachine",
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
    "SensorControl",
    "SensorLocation",
    "StairClimber",
    "StepClimber",
    "Treadmill",
    "TxPower",
    "UserData",
    "WeightScale",
]
/// What services have in common, which one of them holds.
let sharedByServices: [String: [Target.Dependency]] = [
    "CrossTrainer": ["PeripheralFitnessMachine"],
    "CyclingPower": ["PeripheralSensorLocation"],
    "CyclingSpeedAndCadence": ["PeripheralSensorControl", "PeripheralSensorLocation"],
    "Glucose": ["PeripheralRecordAccess"],
    "IndoorBike": ["PeripheralFitnessMachine"],
    "LinkLoss": ["PeripheralImmediateAlert"],
    "PulseOximeter": ["PeripheralRecordAccess"],
    "Rower": ["PeripheralFitnessMachine"],
    "RunningSpeedAndCadence": ["PeripheralSensorControl", "PeripheralSensorLocation"],
    "SensorControl": ["PeripheralSensorLocation"],
    "StairClimber": ["PeripheralFitnessMachine"],
    "StepClimber": ["PeripheralFitnessMachine"],
    "Treadmill": ["PeripheralFitnessMachine"],
]
let serviceTargets: [Target.Dependency] = serviceNames.map { .target(name: "Peripheral\($0)") }

/// The libraries in `Sources/`, each a target and a product of the same name.
let libraryNames = [
    "PeripheralCore",
    "PeripheralKit",
    "PeripheralBlueZModel",
    "PeripheralBlueZ",
    "PeripheralTesting",
    "PeripheralConformance",
    "PeripheralEmulator",
    "PeripheralServiceConformance",
    "PeripheralServiceLifecycle",
    "PeripheralMetrics",
    "PeripheralOneThread",
    "PeripheralBeacon",
    "PeripheralBTHome",
]

let products: [Product] =
    (libraryNames + serviceNames.map { "Peripheral\($0)" }).map { .library(name: $0, targets: [$0]) }
    + [.executable(name: "peripheral-doctor", targets: ["peripheral-doctor"])]

// The documentation's plugin is only there when the documentation is built: it is slow to fetch and build.
let buildsDocumentation = Context.environment["PERIPHERAL_DOCUMENTATION"] != nil
let documentation: [Package.Dependency] =
    buildsDocumentation
    ? [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0")] : []

let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // Each only with the trait of its name.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
]

/// The layers, from the bottom up: each depends only on what stands above it in this list.
let layers: [Target] = [
    .systemLibrary(name: "CPeripheralDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CPeripheralGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),

    // Pure values: UUIDs, ATT errors, codecs, the attribute table, advertisement payloads.
    .target(name: "PeripheralCore", swiftSettings: swiftSettings),
    .testTarget(
        name: "PeripheralCoreTests",
        dependencies: ["PeripheralCore", "TestSupport"],
        swiftSettings: swiftSettings
    ),

    // What users import: the declaration, requests, the session, and the seam to a backend.
    .target(
        name: "PeripheralKit",
        dependencies: ["PeripheralCore", .product(name: "Logging", package: "swift-log")],
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "PeripheralKitTests",
        dependencies: [
            "PeripheralKit", "PeripheralConformance", "PeripheralTesting", "PeripheralVirtualServer",
            "TestSupport",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: swiftSettings
    ),

    // What each version of BlueZ makes of a declaration: pure values, on any platform.
    .target(
        name: "PeripheralBlueZModel",
        dependencies: ["PeripheralCore", "PeripheralKit"],
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "PeripheralBlueZModelTests",
        dependencies: ["PeripheralBlueZModel", "PeripheralCore", "PeripheralKit", "TestSupport"],
        swiftSettings: swiftSettings
    ),

    // libdbus on a GLib main context that is a Swift executor. Knows nothing of Bluetooth.
    .target(
        name: "PeripheralDBus",
        dependencies: ["CPeripheralDBus", "CPeripheralGLib"],
        swiftSettings: cFacingSettings,
        linkerSettings: eventLoopLibraries
    ),
    .testTarget(
        name: "PeripheralDBusTests",
        dependencies: ["PeripheralDBus", "PeripheralEmulator", "BusTestSupport", "TestSupport"],
        swiftSettings: swiftSettings
    ),

    // What is preserved of peripherals, in files.
    .target(
        name: "PeripheralStorage",
        dependencies: ["CPeripheralGLib", "PeripheralKit"],
        swiftSettings: cFacingSettings
    ),
    .testTarget(
        name: "PeripheralStorageTests",
        dependencies: [
            "PeripheralKit", "PeripheralStorage", "PeripheralTesting", "TestSupport", "storage-test-helper",
        ],
        swiftSettings: swiftSettings
    ),

    // The backend on org.bluez.
    .target(
        name: "PeripheralBlueZ",
        dependencies: [
            "PeripheralKit", "PeripheralBlueZModel", "PeripheralDBus", "PeripheralStorage",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: cFacingSettings
    ),
    .testTarget(
        name: "PeripheralBlueZTests",
        dependencies: [
            "PeripheralBlueZ", "PeripheralBlueZModel", "PeripheralConformance", "PeripheralDBus",
            "PeripheralEmulator", "PeripheralTesting", "PeripheralVirtualServer",
            "BusTestSupport", "TestSupport",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: swiftSettings
    ),

    // A GATT server in memory that behaves as bluetoothd's does: for the backend in memory and the emulator.
    .target(
        name: "PeripheralVirtualServer",
        dependencies: ["PeripheralCore", "PeripheralKit", "PeripheralBlueZModel"],
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "PeripheralVirtualServerTests",
        dependencies: [
            "PeripheralVirtualServer", "PeripheralCore", "PeripheralKit", "PeripheralTesting", "TestSupport",
        ],
        swiftSettings: swiftSettings
    ),

    // For users' tests: the backend in memory and the virtual central.
    .target(
        name: "PeripheralTesting",
        dependencies: [
            "PeripheralKit", "PeripheralBlueZModel", "PeripheralVirtualServer",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "PeripheralTestingTests",
        dependencies: ["PeripheralTesting", "TestSupport", .product(name: "Logging", package: "swift-log")],
        swiftSettings: swiftSettings
    ),

    // For authors of backends: the scenarios that every backend passes, and the crash tests.
    .target(
        name: "PeripheralConformance",
        dependencies: [
            "PeripheralKit", "PeripheralBlueZModel", "PeripheralTesting",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "PeripheralConformanceTests",
        dependencies: [
            "PeripheralConformance", "PeripheralBlueZModel", "PeripheralKit", "PeripheralTesting",
            "TestSupport",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: swiftSettings
    ),

    // org.bluez as bluetoothd speaks it, on a private bus.
    .target(
        name: "PeripheralEmulator",
        dependencies: [
            "PeripheralBlueZ", "PeripheralBlueZModel", "PeripheralDBus", "PeripheralTesting",
            "PeripheralVirtualServer", "CPeripheralGLib",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: cFacingSettings
    ),
    .testTarget(
        name: "PeripheralEmulatorTests",
        dependencies: [
            "PeripheralBlueZ", "PeripheralBlueZModel", "PeripheralDBus", "PeripheralEmulator",
            "PeripheralTesting", "PeripheralVirtualServer", "TestSupport",
        ],
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "PeripheralBlueZ", "PeripheralBlueZModel", "PeripheralConformance", "PeripheralDBus",
            "PeripheralEmulator", "PeripheralOneThread", "PeripheralTesting", "PeripheralVirtualServer",
            "PeripheralGlucose", "PeripheralHeartRate", "PeripheralRecordAccess",
            "PeripheralServiceConformance",
            "TestSupport", "crash-test-helper", "one-thread-test-helper", "signal-test-helper",
            .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: swiftSettings
    ),
]

/// For device images: all of a program on one thread.
let oneThread: [Target] = [
    .target(
        name: "PeripheralOneThread",
        dependencies: ["PeripheralDBus", "CPeripheralGLib"],
        swiftSettings: cFacingSettings
    )
]

/// Advertisements in the formats of beacons, on the public API alone.
///
/// Each is a target, so that an unused one adds no code to a program.
let beacons: [Target] = [
    .target(name: "PeripheralBeacon", dependencies: ["PeripheralKit"], swiftSettings: swiftSettings),
    .target(name: "PeripheralBTHome", dependencies: ["PeripheralKit"], swiftSettings: swiftSettings),
    .testTarget(
        name: "BeaconTests",
        dependencies: [
            "PeripheralBeacon", "PeripheralBTHome", "PeripheralKit", "PeripheralTesting", "TestSupport",
        ],
        swiftSettings: swiftSettings
    ),

    // Prints beacons, for independent parsers.
    .executableTarget(
        name: "beacon-values",
        dependencies: ["PeripheralBeacon", "PeripheralBTHome", "PeripheralKit"],
        path: "Tests/Interoperability/BeaconValues",
        swiftSettings: swiftSettings
    ),
]

/// What ties a peripheral to other packages, each empty without the trait of its name.
let adapters: [Target] = [
    // A peripheral as a service of swift-service-lifecycle.
    .target(
        name: "PeripheralServiceLifecycle",
        dependencies: [
            "PeripheralKit", .product(name: "Logging", package: "swift-log"),
            .product(
                name: "ServiceLifecycle",
                package: "swift-service-lifecycle",
                condition: .when(traits: ["ServiceLifecycle"])
            ),
        ],
        swiftSettings: swiftSettings
    ),

    // The counters of a session as metrics of swift-metrics.
    .target(
        name: "PeripheralMetrics",
        dependencies: [
            "PeripheralKit",
            .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        ],
        swiftSettings: swiftSettings
    ),
]

/// The command `peripheral-doctor`: what is wrong with a machine that a peripheral shall run on.
///
/// It is for devices too, and therefore as free of Foundation as the libraries: it reads its few options by
/// itself.
let doctor: [Target] = [
    .target(
        name: "PeripheralDoctor",
        dependencies: ["PeripheralBlueZ", "PeripheralBlueZModel", "PeripheralCore", "PeripheralDBus"],
        swiftSettings: cFacingSettings
    ),
    .executableTarget(
        name: "peripheral-doctor",
        dependencies: ["PeripheralDoctor"],
        swiftSettings: cFacingSettings
    ),
    .testTarget(
        name: "PeripheralDoctorTests",
        dependencies: [
            "PeripheralDoctor", "PeripheralBlueZ", "PeripheralBlueZModel", "PeripheralCore", "PeripheralDBus",
            "PeripheralEmulator", "PeripheralKit",
            "CPeripheralGLib", "TestSupport",
        ],
        swiftSettings: swiftSettings
    ),
]

/// The services' targets, on the public API alone.
let services: [Target] = serviceNames.map { name in
    .target(
        name: "Peripheral\(name)",
        dependencies: ["PeripheralKit"] + sharedByServices[name, default: []],
        path: "Services/\(name)",
        swiftSettings: swiftSettings
    )
}

/// What proves all services.
///
/// It is a list of its own because Swift 6.2 gives up on the type of both in one expression.
let serviceTests: [Target] = [
    // What every service has to do in the same way on every backend.
    .target(
        name: "PeripheralServiceConformance",
        dependencies: ["PeripheralKit", "PeripheralConformance", "PeripheralTesting"] + serviceTargets,
        path: "Services/Conformance",
        swiftSettings: swiftSettings
    ),
    .testTarget(
        name: "ServicesTests",
        dependencies: [
            "PeripheralKit", "PeripheralConformance", "PeripheralServiceConformance", "PeripheralTesting",
            "TestSupport",
        ]
            + serviceTargets,
        swiftSettings: swiftSettings
    ),

    // Prints values of all services, for an independent decoder.
    .executableTarget(
        name: "service-values",
        dependencies: ["PeripheralKit", "PeripheralTesting"] + serviceTargets,
        path: "Tests/Interoperability/ServiceValues",
        swiftSettings: swiftSettings
    ),
]

/// What several test targets need.
let testSupport: [Target] = [
    .target(
        name: "TestSupport",
        dependencies: ["PeripheralKit", .product(name: "Logging", package: "swift-log")],
        path: "Tests/TestSupport",
        swiftSettings: swiftSettings
    ),
    .target(
        name: "BusTestSupport",
        dependencies: ["TestSupport", "PeripheralDBus", "PeripheralEmulator"],
        path: "Tests/BusTestSupport",
        swiftSettings: swiftSettings
    ),

    // The process that the tests of the storage kill, or whose disk is full.
    .executableTarget(
        name: "storage-test-helper",
        dependencies: ["PeripheralKit", "PeripheralStorage", "TestSupport"],
        path: "Tests/StorageTestHelper",
        swiftSettings: swiftSettings
    ),

    // The program that is killed over an emulated bluetoothd.
    .executableTarget(
        name: "crash-test-helper",
        dependencies: ["PeripheralBlueZ", "PeripheralConformance", "PeripheralDBus"],
        path: "Tests/CrashTestHelper",
        swiftSettings: swiftSettings
    ),

    // The program that signals stop over an emulated bluetoothd.
    .executableTarget(
        name: "signal-test-helper",
        dependencies: ["PeripheralBlueZ", "PeripheralDBus", "PeripheralKit"],
        path: "Tests/SignalTestHelper",
        swiftSettings: swiftSettings
    ),

    // What runs firmware and measures it.
    .executableTarget(
        name: "firmware-check",
        dependencies: ["PeripheralKit", "PeripheralEmulator", "PeripheralTesting", "PeripheralHeartRate"],
        path: "Tests/Firmware/Check",
        swiftSettings: swiftSettings
    ),

    // Programs on one thread.
    .executableTarget(
        name: "one-thread-test-helper",
        dependencies: ["PeripheralBlueZ", "PeripheralDBus", "PeripheralKit", "PeripheralOneThread"],
        path: "Tests/OneThreadTestHelper",
        swiftSettings: swiftSettings
    ),
]

/// The documentation of all products together.
///
/// It depends on each of them, so that its pages can link to all symbols.
let guide: [Target] =
    buildsDocumentation
    ? [
        .target(
            name: "PeripheralGuide",
            dependencies: libraryNames.map { .target(name: $0) } + serviceTargets,
            swiftSettings: swiftSettings
        )
    ] : []

let package = Package(
    name: "swift-peripheral",
    platforms: [.macOS(.v15)],
    products: products,
    traits: [
        .trait(
            name: "ServiceLifecycle",
            description: "A peripheral as a service of swift-service-lifecycle."
        ),
        .trait(name: "Metrics", description: "The counters of a session as metrics of swift-metrics."),
    ],
    dependencies: dependencies + documentation,
    targets: layers + oneThread + beacons + adapters + doctor + services + serviceTests + testSupport + guide
)
