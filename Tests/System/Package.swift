// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "system-tests",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-peripheral", path: "../.."),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),

        // A GATT application in plain C to compare with, and the objects that a program exports.
        .target(name: "CRegistration", dependencies: ["CDBus"]),

        // A program in plain C that serves L2CAP channels, to compare with.
        .target(name: "CChannels"),

        // Functions that block.
        .target(name: "OwnThread"),

        // What it costs to add a service. Unlike the runner, it can be built for release.
        .executableTarget(
            name: "registration-benchmark",
            dependencies: [
                "CRegistration",
                "OwnThread",
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralCore", package: "swift-peripheral"),
                .product(name: "PeripheralKit", package: "swift-peripheral"),
            ]
        ),

        .executableTarget(
            name: "conformance-runner",
            dependencies: [
                "CChannels",
                "CRegistration",
                "OwnThread",
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZModel", package: "swift-peripheral"),
                .product(name: "PeripheralConformance", package: "swift-peripheral"),
                .product(name: "PeripheralCore", package: "swift-peripheral"),
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralServiceConformance", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]
        ),
    ]
)
