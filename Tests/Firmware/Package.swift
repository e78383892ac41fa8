// swift-tools-version: 6.2
import PackageDescription

func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-peripheral")
}

let package = Package(
    name: "firmware-tests",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-peripheral", path: "../..")],
    targets: [
        .executableTarget(
            name: "firmware-trial",
            dependencies: [
                product("PeripheralKit"), product("PeripheralEmulator"), product("PeripheralTesting"),
                product("PeripheralHeartRate"),
            ]
        )
    ]
)
