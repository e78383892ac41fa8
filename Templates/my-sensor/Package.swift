// swift-tools-version: 6.2
import PackageDescription

func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-peripheral")
}

let package = Package(
    name: "my-sensor",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-peripheral", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "my-sensor",
            dependencies: [
                product("PeripheralKit"), product("PeripheralBlueZ"),
                // For --emulated only. A device does not need them.
                product("PeripheralEmulator"), product("PeripheralTesting"),
            ]
        ),
        .testTarget(
            name: "MySensorTests",
            dependencies: ["my-sensor", product("PeripheralKit"), product("PeripheralTesting")]
        ),
    ]
)
