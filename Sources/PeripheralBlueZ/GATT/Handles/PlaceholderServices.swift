internal import PeripheralCore
internal import PeripheralDBus
private import Synchronization

/// Secondary services of one handle each, without content, that keep other services away from their handles.
///
/// Centrals do not discover them, because no service includes them.
struct PlaceholderServices: Sendable {
    /// The handles in the order of registration; bluetoothd chooses where there is `nil`.
    private let handles: [AttributeHandle?]
    private let uuid: BluetoothUUID?
    private let root: ObjectPath
    private let connection: BusConnection

    /// Creates placeholder services.
    ///
    /// - Parameters:
    ///   - handles: The handles; bluetoothd chooses where there is `nil`.
    ///   - uuid: A type that no other program uses; `nil` for a new one for each service. Services with the
    ///     same type must have different handles, because bluetoothd takes equal services for one.
    ///   - root: The path below which the services are; nothing else uses it at the same time.
    ///   - connection: The connection that exports the services.
    init(
        at handles: [AttributeHandle?],
        uuid: BluetoothUUID? = nil,
        root: ObjectPath,
        on connection: BusConnection
    ) {
        self.handles = handles
        self.uuid = uuid
        self.root = root
        self.connection = connection
    }

    /// Registers all services.
    ///
    /// - Returns: `false` if another service is at one of the handles; none is registered then.
    func register(by managers: AdapterManagers) async throws(BusError) -> Bool {
        try await register(by: managers, ChosenHandles())
    }

    private func register(by managers: AdapterManagers, _ chosen: ChosenHandles) async throws(BusError)
        -> Bool
    {
        for number in handles.indices { try await connection.export(try object(number, chosen)) }
        try await connection.exportObjectManager(at: root)
        do throws(BusError) {
            try await managers.registerApplication(at: root)
            return true
        } catch {
            await withdrawObjects()
            guard error.isConflict else { throw error }
            return false
        }
    }

    /// Registers all services for a moment.
    ///
    /// bluetoothd removes unregistered services at once. It removes a refused service, and all services
    /// before it, only when it is idle (`remove_app` in gatt-database.c). So a registration that is meant to
    /// be refused would block the next one while other programs register their services.
    ///
    /// - Returns: The handles that bluetoothd has chosen, as far as all earlier services have found room; and
    ///   whether all have.
    /// - Throws: `BusError`.
    func attempt(
        by managers: AdapterManagers
    ) async throws(BusError) -> (chosen: [AttributeHandle], isFree: Bool) {
        let chosen = ChosenHandles()
        let isFree = try await register(by: managers, chosen)
        if isFree { try await withdraw(by: managers) }
        return (chosen.all, isFree)
    }

    /// Removes the services from the database.
    func withdraw(by managers: AdapterManagers) async throws(BusError) {
        try await managers.withdrawApplication(at: root)
        await withdrawObjects()
    }

    private func withdrawObjects() async {
        // The object manager goes first, so that it announces nothing.
        await connection.withdrawObjectManager(at: root)
        for number in handles.indices {
            if let path = try? path(number) { await connection.withdraw(path) }
        }
    }

    private func path(_ number: Int) throws(BusError) -> ObjectPath {
        try root.appending("service\(number)")
    }

    private func object(_ number: Int, _ chosen: ChosenHandles) throws(BusError) -> ExportedObject {
        let handle = handles[number]
        let properties = [
            ExportedProperty("UUID", .string((uuid ?? .random()).fullDescription)),
            ExportedProperty("Primary", .bool(false)),
            ExportedProperty(
                "Handle",
                "q",
                get: { .uint16(handle?.rawValue ?? 0) },
                set: { value in
                    if let number: UInt16 = value.integer() {
                        chosen.append(AttributeHandle(rawValue: number))
                    }
                }
            ),
        ]
        return ExportedObject(
            try path(number),
            [ExportedInterface(BlueZ.service, callers: BlueZ.name, properties: properties)]
        )
    }
}

/// The handles that bluetoothd has reported during a registration.
private final class ChosenHandles: Sendable {
    private let handles = Mutex<[AttributeHandle]>([])

    var all: [AttributeHandle] { handles.withLock(\.self) }

    func append(_ handle: AttributeHandle) {
        handles.withLock { $0.append(handle) }
    }
}
