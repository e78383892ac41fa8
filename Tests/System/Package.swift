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
        .executableTarget(
            name: "conformance-runner",
            dependencies: [
                .product(name: "PeripheralBlueZ", package: "swift-peripheral"),
                .product(name: "PeripheralBlueZModel", package: "swift-peripheral"),
                .product(name: "PeripheralConformance", package: "swift-peripheral"),
                .product(name: "PeripheralCore", package: "swift-peripheral"),
                .product(name: "PeripheralKit", package: "swift-peripheral"),
                .product(name: "PeripheralServiceConformance", package: "swift-peripheral"),
                .product(name: "PeripheralTesting", package: "swift-peripheral"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]
        )
    ]
)
