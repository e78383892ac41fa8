// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-peripheral", path: "../..")],
    targets: [
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),

        // The server to compare with, and the daemon that asks both: plain C on libdbus.
        .target(name: "CBenchmark", dependencies: ["CDBus"]),

        // The servers that are measured. They link what a peripheral links, and nothing else.
        .executableTarget(
            name: "benchmark-server",
            dependencies: [
                "CBenchmark",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
            ]
        ),

        // What requests, notifications, starts and several centrals cost.
        .executableTarget(
            name: "performance-benchmark",
            dependencies: [
                "CBenchmark",
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "PeripheralEmulator", package: "swift-peripheral"),
            ]
        ),

        // What it costs to save and to load the state of a peripheral.
        .executableTarget(
            name: "storage-benchmark",
            dependencies: [
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
            ]
        ),
    ]
)
