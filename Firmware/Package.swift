// swift-tools-version: 6.2
import PackageDescription

/// Peripherals for the image of a device, with the services of each.
///
/// They contain no Foundation and no argument parser, and log only what a device needs. Files that they share
/// with the examples are links to those.
let firmware = [
    "heart-rate-sensor": ["PeripheralHeartRate", "PeripheralBattery", "PeripheralDeviceInformation"],
    "door-lock": [],
]

func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-peripheral")
}

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The functions that firmware leaves out; `LeftOut.swift` says why.
let leftOut =
    ["__cxa_demangle"]
    + ["ScalarName", "NameAlias", "Age", "Script", "ScriptExtensions"].map { "_swift_stdlib_get\($0)" }

let package = Package(
    name: "firmware",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-peripheral", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2", traits: ["MaxLogLevelNotice"]),
    ],
    targets: [
        .target(
            name: "FirmwareSupport",
            dependencies: [
                product("PeripheralKit"), product("PeripheralBlueZ"), product("PeripheralOneThread"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings,
            linkerSettings: [.unsafeFlags(leftOut.flatMap { ["-Xlinker", "--wrap=\($0)"] })]
        )
    ]
        + firmware.map { name, services in
            .executableTarget(
                name: name,
                dependencies: ["FirmwareSupport", product("PeripheralKit")] + services.map(product),
                swiftSettings: settings
            )
        }
)
