// swift-tools-version: 6.2
import PackageDescription

/// A product of swift-peripheral.
func product(_ name: String, _ condition: TargetDependencyCondition? = nil) -> Target.Dependency {
    .product(name: name, package: "swift-peripheral", condition: condition)
}

let package = Package(
    name: "my-device",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/swift-peripheral/swift-peripheral", branch: "main")
    ],
    targets: [
        // The peripheral. It has no dependency on Linux, so its tests run on a Mac too.
        .target(
            name: "MyDevicePeripheral",
            dependencies: [product("PeripheralKit")]
        ),
        .testTarget(
            name: "MyDevicePeripheralTests",
            dependencies: ["MyDevicePeripheral", product("PeripheralTesting")]
        ),
        // The program, which runs the peripheral on Linux.
        .executableTarget(
            name: "my-device",
            dependencies: [
                "MyDevicePeripheral",
                product("PeripheralBlueZ", .when(platforms: [.linux])),
                // For --emulated only. A device does not need them.
                product("PeripheralEmulator", .when(platforms: [.linux])), product("PeripheralTesting"),
            ]
        ),
    ]
)
