internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The devices that an adapter knows, as far as a peripheral deals with them.
struct Devices {
    let connection: BusConnection
    let adapter: ObjectPath

    func disconnect(_ central: Central.ID) async throws {
        guard let device = try await all().first(where: { $0.central.id == central }), device.isConnected
        else {
            throw PeripheralError(code: .disconnected, message: "Central \(central) is not connected.")
        }
        _ = try await call(device.path, BlueZ.device, "Disconnect")
    }

    func bonded() async throws -> [Central] {
        try await all().map(\.central).filter(\.isBonded)
    }

    func forget(_ central: Central.ID) async throws {
        guard let device = try await all().first(where: { $0.central.id == central }) else { return }
        _ = try await call(adapter, BlueZ.adapter, "RemoveDevice", [.objectPath(device.path)])
    }

    private func all() async throws -> [DeviceDescription] {
        let answer = try await call("/", BlueZ.objectManager, "GetManagedObjects")
        return answer.first?.dictionary?.entries.compactMap { entry in
            guard let path = entry.key.objectPath, path.isBelow(adapter) else { return nil }
            return entry.value[BlueZ.device.text].flatMap { DeviceDescription(path: path, $0) }
        } ?? []
    }

    private func call(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ method: MemberName,
        _ arguments: [BusValue] = []
    ) async throws -> [BusValue] {
        do {
            return try await connection.call(BlueZ.name, path, interface, method, arguments)
        } catch .cancelled {
            throw CancellationError()
        } catch {
            throw PeripheralError(
                code: .rejected,
                message: "bluetoothd refused \(method.text): \(error).",
                cause: error
            )
        }
    }
}

/// A device as bluetoothd describes it.
struct DeviceDescription {
    var path: ObjectPath
    var central: Central
    var isConnected: Bool

    init?(path: ObjectPath, _ properties: BusValue) {
        guard let text = properties["Address"]?.string, let address = DeviceAddress(text) else { return nil }
        self.path = path
        let kind: DeviceAddress.Kind? =
            switch properties["AddressType"]?.string {
            case "public": .public
            case "random": .random
            default: nil
            }
        // Before 5.65, bluetoothd tells only of the pairing.
        let isBonded = properties["Bonded"]?.bool ?? properties["Paired"]?.bool ?? false
        central = Central(address: address, addressKind: kind, isBonded: isBonded)
        isConnected = properties["Connected"]?.bool ?? false
    }
}
