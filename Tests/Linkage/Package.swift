// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "linkage",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-peripheral", path: "../..")],
    targets: [
        .executableTarget(
            name: "minimal-peripheral",
            dependencies: [
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralHeartRate", package: "swift-peripheral"),
            ]
        )
    ]
)
