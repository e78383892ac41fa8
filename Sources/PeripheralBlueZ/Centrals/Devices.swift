internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The operations on the devices of an adapter that a peripheral needs.
struct Devices {
    private struct Device {
        var path: ObjectPath
        var central: Central
        var isConnected: Bool
    }

    let connection: BusConnection
    let adapter: ObjectPath

    func disconnect(_ central: Central.ID) async throws {
        guard let device = try await device(of: central), device.isConnected else {
            throw PeripheralError(code: .disconnected, message: "Central \(central) is not connected.")
        }
        _ = try await call(device.path, BlueZ.device, "Disconnect")
    }

    func bonded() async throws -> [Central] {
        try await all().map(\.central).filter(\.isBonded)
    }

    func forget(_ central: Central.ID) async throws {
        guard let device = try await device(of: central) else {
            throw PeripheralError(
                code: .unknownCentral,
                message: "bluetoothd does not know central \(central)."
            )
        }
        _ = try await call(adapter, BlueZ.adapter, "RemoveDevice", [.objectPath(device.path)])
    }

    /// Returns when bluetoothd has handled everything that was sent to it through the bus before.
    func untilAnswered() async {
        _ = try? await call("/", BlueZ.introspectable, "Introspect")
    }

    private func device(of central: Central.ID) async throws -> Device? {
        try await all().first { $0.central.id == central }
    }

    private func all() async throws -> [Device] {
        let answer = try await call("/", BlueZ.objectManager, "GetManagedObjects")
        return answer.first?.dictionary?.entries.compactMap { entry in
            guard let path = entry.key.objectPath, path.isBelow(adapter),
                let id = Central.ID(devicePath: path),
                let properties = entry.value[BlueZ.device.text]
            else { return nil }
            return Device(
                path: path,
                central: Central(id, properties),
                isConnected: properties["Connected"]?.bool ?? false
            )
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
