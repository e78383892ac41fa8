internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
private import Synchronization

/// The peripheral on one connection to the bus: its applications, its pairing agent and its centrals.
///
/// The session ends with the connection. The next connection uses no state of this session, so no state can
/// be outdated.
struct BusSession: Sendable {
    private(set) var connection: BusConnection
    private(set) var centrals: Centrals
    private(set) var pairing: PairingAgent
    /// The registered applications, by the numbers of their groups.
    let applications = Applications()
    private(set) var advertisements: AdvertisementRegistrations
    private(set) var agent: AgentRegistration
    private(set) var watcher: DaemonWatcher
    private(set) var reservation: HandleReservation

    /// Connects to the bus, exports the pairing agent, and begins to watch bluetoothd.
    ///
    /// The session reports events on the loop.
    init(
        of publication: BackendPublication,
        for host: any PeripheralHost,
        at bus: BusAddress,
        on loop: EventLoop,
        record: HandleRecord,
        times: AdvertisingTimes,
        version: BlueZVersion?,
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        isPairable: Bool?,
        clock: any Clock<Duration>,
        log: RunLog,
        report: @escaping @Sendable (SupervisorStateMachine.Event) -> Void
    ) async throws {
        connection = try await BusConnection.connect(to: bus, on: loop)
        reservation = HandleReservation(record)
        do {
            centrals = Centrals(
                on: connection,
                kernelLinks: kernelLinks,
                fallbackRate: fallbackRate,
                log: log,
                report: host.handle
            )
            pairing = PairingAgent(host: host, centrals: centrals, on: connection, log: log)
            agent = AgentRegistration(
                of: pairing,
                as: publication.pairing,
                on: connection,
                by: clock,
                log: log,
                isPairable: isPairable
            ) { host.allowsPairing }
            advertisements = AdvertisementRegistrations(on: connection, times: times) {
                report(.registration(.advertisementReleased($0)))
            }
            watcher = DaemonWatcher(connection: connection, version: version, report: report)
            if publication.pairing != .system { try await connection.export(pairing.object) }
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
        await pairing.close()
        await centrals.close()
        silenced()
        await connection.close()
    }
}

/// The applications that are exported on one connection to the bus.
final class Applications: Sendable {
    private let applications = Mutex<[Int: Application]>([:])

    /// The applications in the order of their numbers.
    var all: [Application] {
        applications.withLock { $0.values.inOrder { $0.group.number < $1.group.number } }
    }

    subscript(number: Int) -> Application? {
        get { applications.withLock { $0[number] } }
        set { applications.withLock { $0[number] = newValue } }
    }
}
