internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The connection of a running peripheral to bluetoothd, from the view of the session.
struct BlueZLink: BackendLink {
    private let devices: Devices
    private let agent: AgentRegistration
    private let centrals: Centrals
    private let demand: @Sendable ([Advertisement], Set<Int>) async throws -> Void
    private let changeServices:
        (
            examine: @Sendable (BackendServices) throws -> Void,
            add: @Sendable (BackendServices) async throws -> Void,
            remove: @Sendable ([AttributeHandle]) async throws -> Void
        )
    private let requestStop: @Sendable () -> Void

    init(
        devices: Devices,
        agent: AgentRegistration,
        centrals: Centrals,
        advertise: @escaping @Sendable ([Advertisement], Set<Int>) async throws -> Void,
        changeServices: (
            examine: @Sendable (BackendServices) throws -> Void,
            add: @Sendable (BackendServices) async throws -> Void,
            remove: @Sendable ([AttributeHandle]) async throws -> Void
        ),
        stop: @escaping @Sendable () -> Void
    ) {
        self.changeServices = changeServices
        self.devices = devices
        self.agent = agent
        self.centrals = centrals
        demand = advertise
        requestStop = stop
    }

    func submit(_ update: BackendUpdate) {
        centrals.submit([update])
    }

    func submit(all updates: [BackendUpdate]) {
        centrals.submit(updates)
    }

    func giveUp(_ update: BackendUpdate.ID) {
        centrals.giveUp(update)
    }

    /// When bluetoothd answers, it has sent everything that reached it through the bus.
    ///
    /// The sockets are independent of the bus.
    func untilAnswersAreForwarded() async {
        await devices.untilAnswered()
    }

    func untilUpdatesAreForwarded(for central: Central.ID) async {
        guard await centrals.completionReporting != .observed else { return }
        await devices.untilAnswered()
        await centrals.untilForwarded(for: central)
    }

    func disconnect(_ central: Central.ID) async throws {
        try await devices.disconnect(central)
    }

    func prefer(
        _ preference: ConnectionPreference,
        for central: Central.ID
    ) async throws -> ConnectionParameters {
        try await centrals.prefer(preference, for: central)
    }

    func signalStrength(of central: Central.ID) async throws -> Int {
        try await centrals.signalStrength(of: central)
    }

    func bondedCentrals() async throws -> [Central] {
        try await devices.bonded()
    }

    func forget(_ central: Central.ID) async throws {
        await centrals.willForget(central)
        try await devices.forget(central)
    }

    func pairingAllowanceChanged() async throws {
        do {
            try await agent.pairingAllowanceChanged(on: devices.adapter)
        } catch .cancelled {
            throw CancellationError()
        } catch {
            throw PeripheralError(
                code: .rejected,
                message: "bluetoothd does not change whether centrals may pair: \(error).",
                cause: error
            )
        }
    }

    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        try await demand(advertisements, restarted)
    }

    func add(_ services: BackendServices) async throws {
        try await changeServices.add(services)
    }

    func examine(_ services: BackendServices) throws {
        try changeServices.examine(services)
    }

    func remove(_ services: [AttributeHandle]) async throws {
        try await changeServices.remove(services)
    }

    func stop() {
        requestStop()
    }
}
