internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The peripheral on one connection to the bus: its objects, its pairing agent and its centrals.
///
/// The session ends with the connection. The next connection uses no state of this session, so no state can
/// be outdated.
struct BusSession: Sendable {
    private(set) var connection: BusConnection
    private(set) var application: Application
    private(set) var advertisements: AdvertisementRegistrations
    private(set) var agent: AgentRegistration
    private(set) var watcher: DaemonWatcher
    private(set) var reservation: HandleReservation

    /// Connects to the bus, exports the objects, and begins to watch bluetoothd.
    ///
    /// The session reports events on the loop. The database receives the same handles that it had on the air
    /// before.
    init(
        of publication: BackendPublication,
        for host: any PeripheralHost,
        at bus: BusAddress,
        on loop: EventLoop,
        handles: AssignedHandles,
        record: HandleRecord,
        times: AdvertisingTimes,
        version: BlueZVersion?,
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        log: RunLog,
        report: @escaping @Sendable (SupervisorStateMachine.Event) -> Void
    ) async throws {
        connection = try await BusConnection.connect(to: bus, on: loop)
        reservation = HandleReservation(record)
        do {
            application = Application(
                publication,
                host: host,
                handles: handles,
                on: connection,
                kernelLinks: kernelLinks,
                fallbackRate: fallbackRate,
                log: log
            )
            agent = AgentRegistration(
                of: application.agent,
                as: publication.pairing,
                on: connection,
                log: log
            )
            advertisements = AdvertisementRegistrations(on: connection, times: times) {
                report(.registration(.advertisementReleased($0)))
            }
            watcher = DaemonWatcher(connection: connection, version: version, report: report)
            try await application.export(on: connection)
            try await watcher.watch()
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Ends the connection, so bluetoothd drops everything that belongs to the connection.
    ///
    /// - Parameter silenced: Called when the session reports nothing more to the host. The connection is
    ///   still open then, for values that the host sends.
    func close(_ silenced: () -> Void) async {
        await application.agent.close()
        await application.centrals.close()
        silenced()
        await connection.close()
    }
}
