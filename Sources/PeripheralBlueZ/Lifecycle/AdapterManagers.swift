internal import PeripheralDBus

/// The managers of one adapter, which register and unregister an application and its advertisements.
struct AdapterManagers {
    /// A daemon that hangs must not delay the end of the program.
    ///
    /// bluetoothd drops all registrations when the connection ends.
    static let endTimeout = Duration.seconds(2)

    private let connection: BusConnection
    private let adapter: ObjectPath

    init(of adapter: String, on connection: BusConnection) throws(BusError) {
        self.adapter = try ObjectPath(adapter)
        self.connection = connection
    }

    func registerApplication(at root: ObjectPath) async throws(BusError) {
        try await register("RegisterApplication", with: BlueZ.gattManager, root)
    }

    func registerAdvertisement(_ object: ObjectPath) async throws(BusError) {
        try await register("RegisterAdvertisement", with: BlueZ.advertisingManager, object)
    }

    func withdrawAdvertisement(_ object: ObjectPath) async throws(BusError) {
        try await withdraw(
            "UnregisterAdvertisement",
            from: BlueZ.advertisingManager,
            object,
            timeout: Self.endTimeout
        )
    }

    func withdrawApplication(
        at root: ObjectPath,
        timeout: Duration = endTimeout
    ) async throws(BusError) {
        try await withdraw("UnregisterApplication", from: BlueZ.gattManager, root, timeout: timeout)
    }

    /// Returns the properties of one of the adapter's interfaces; empty if bluetoothd does not return them.
    func properties(of interface: InterfaceName) async throws(BusError) -> BusValue {
        let arguments: [BusValue] = [.string(interface.text)]
        do throws(BusError) {
            let answer = try await connection.call(BlueZ.name, adapter, .properties, "GetAll", arguments)
            return answer.first ?? .properties([])
        } catch .remote {
            // The registration reports the reason later.
            return .properties([])
        }
    }

    private func register(
        _ method: MemberName,
        with manager: InterfaceName,
        _ object: ObjectPath
    ) async throws(BusError) {
        let arguments: [BusValue] = [.objectPath(object), .properties([])]
        _ = try await connection.call(BlueZ.name, adapter, manager, method, arguments)
    }

    private func withdraw(
        _ method: MemberName,
        from manager: InterfaceName,
        _ object: ObjectPath,
        timeout: Duration
    ) async throws(BusError) {
        let arguments: [BusValue] = [.objectPath(object)]
        _ = try await connection.call(BlueZ.name, adapter, manager, method, arguments, timeout: timeout)
    }
}
