internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// All that a peripheral is on one connection to the bus: its objects, its pairing agent and its centrals.
///
/// It ends with the connection; what is lost with one is not carried over to the next, so that nothing of it can be left.
struct Presence: Sendable {
    private(set) var connection: BusConnection
    private(set) var application: Application
    private(set) var advertisements: AdvertisementRegistrations
    private(set) var agent: AgentRegistration
    private(set) var watcher: DaemonWatcher
    private(set) var reservation: HandleReservation

    /// Connects to the bus, exports the objects, and begins to watch; reports on the loop what happens.
    ///
    /// The database is to have the handles again that it had on the air before.
    init(
        of publication: Publication,
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
        report: @escaping @Sendable (LifeStateMachine.Event) -> Void
    ) async throws {
        connection = try await BusConnection.connect(to: bus, on: loop)
        reservation = HandleReservation(record)
        do {
            application = try Application(
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

    /// Leaves nothing behind, also in bluetoothd, which drops what belongs to a connection.
    ///
    /// - Parameter silenced: Called when nothing more is told to the host, while what it sends still meets a connection.
    func close(_ silenced: () -> Void) async {
        await application.agent.close()
        await application.centrals.close()
        silenced()
        await connection.close()
    }
}
