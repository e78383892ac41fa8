internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The managers of one adapter, by which an application and its advertisements come and go.
struct AdapterManagers {
    private let connection: BusConnection
    private let adapter: ObjectPath

    init(of adapter: String, on connection: BusConnection) throws(BusError) {
        self.adapter = try ObjectPath(adapter)
        self.connection = connection
    }

    func registerApplication() async throws(BusError) {
        try await register("RegisterApplication", with: BlueZ.gattManager, Application.root)
    }

    /// Registers one after the other.
    func register(
        _ advertisements: [AdvertisementObject],
        version: BlueZVersion,
        clock: any Clock<Duration>
    ) async throws {
        let adapter = try await properties(of: BlueZ.adapter)
        for advertisement in advertisements {
            let capabilities = AdvertisingCapabilities(
                ofManager: try await properties(of: BlueZ.advertisingManager),
                adapter: adapter,
                version: version
            )
            advertisement.prepare(for: capabilities)
            let plan = advertisement.plan
            let errors = plan.issues.filter { $0.severity == .error }
            guard errors.isEmpty else { throw RegistrationStateMachine.Failure(errors) }
            do {
                advertisement.isRegistered = true
                try await register(
                    "RegisterAdvertisement",
                    with: BlueZ.advertisingManager,
                    advertisement.path
                )
                advertisement.noteOnTheAir(by: clock)
            } catch {
                throw RegistrationStateMachine.Failure(
                    refusedAdvertisement: error,
                    plan,
                    isPowered: adapter["Powered"]?.bool ?? true
                )
            }
        }
    }

    private func properties(of interface: InterfaceName) async throws(BusError) -> BusValue {
        let arguments: [BusValue] = [.string(interface.text)]
        do throws(BusError) {
            let answer = try await connection.call(BlueZ.name, adapter, .properties, "GetAll", arguments)
            return answer.first ?? .properties([])
        } catch .remote {
            // The registration will tell the reason.
            return .properties([])
        }
    }

    /// Withdraws all, also when bluetoothd has dropped one of them by itself.
    func withdraw(_ advertisements: [AdvertisementObject]) async throws(BusError) {
        var failure: BusError?
        for advertisement in advertisements where advertisement.isRegistered {
            do {
                advertisement.isRegistered = false
                try await withdraw(
                    "UnregisterAdvertisement",
                    from: BlueZ.advertisingManager,
                    advertisement.path
                )
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    func withdrawApplication() async throws(BusError) {
        try await withdraw("UnregisterApplication", from: BlueZ.gattManager, Application.root)
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
        _ object: ObjectPath
    ) async throws(BusError) {
        let arguments: [BusValue] = [.objectPath(object)]
        // A daemon that hangs must not hold up the end of the program: it forgets us with the connection anyway.
        _ = try await connection.call(BlueZ.name, adapter, manager, method, arguments, timeout: .seconds(2))
    }
}
