internal import PeripheralCore
internal import PeripheralDBus
private import Synchronization

/// Secondary services without content, which keep other services away from their handles.
///
/// Each service occupies one handle. Centrals do not discover these services, because no service includes
/// them.
struct PlaceholderServices: Sendable {
    /// The handles in the order of registration; bluetoothd chooses each handle that is `nil`.
    private let handles: [AttributeHandle?]
    private let uuid: BluetoothUUID?
    private let root: ObjectPath
    private let connection: BusConnection

    /// Creates placeholder services.
    ///
    /// - Parameters:
    ///   - handles: The handles. bluetoothd chooses each handle that is `nil`.
    ///   - uuid: A type that no other program uses. With `nil`, each service has a new type. Services with
    ///     the same type must have different handles, because bluetoothd treats equal services as one
    ///     service.
    ///   - root: The path below which the services are. No other object uses this path at the same time.
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
    /// - Returns: `false` if another service uses one of the handles. In that case, no service is registered.
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
    /// before it, only when it is idle (`remove_app` in gatt-database.c). Therefore a registration that is
    /// refused on purpose would block the next registration while other programs register their services.
    ///
    /// - Returns: The chosen handles up to the first service without room, and whether all services have
    ///   room.
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
        // The object manager is removed first and therefore announces no removal.
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
