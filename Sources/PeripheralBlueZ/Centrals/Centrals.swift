internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// The centrals of an adapter: who is connected, who has subscribed to what, and the ways to them.
///
/// An actor of the event loop, so that calls and signals enter it without a change of thread.
actor Centrals {
    /// What the running bluetoothd can do.
    struct Abilities: Hashable {
        let version: BlueZVersion
        /// Each subscriber can have a socket of its own (BlueZ 5.76).
        ///
        /// Before, one socket serves all: then none is taken, and the calls merely tell who has subscribed.
        var hasSocketPerCentral = false
        /// Confirmations of indications come back on the socket (BlueZ 5.80); before, nothing tells of those that are sent
        /// by a central's own.
        var confirmsOnSockets = false
        /// It tells the handles that it has given (not BlueZ 5.74 and 5.75, which refuse an application that asks).
        var tellsHandles = true

        init(of version: BlueZVersion) {
            self.version = version
            hasSocketPerCentral = version >= "5.76"
            confirmsOnSockets = version >= "5.80"
            tellsHandles = !(("5.74" as BlueZVersion)..."5.75").contains(version)
        }
    }

    /// A characteristic that is updated.
    struct Characteristic: Hashable {
        var uuid: BluetoothUUID
        var path: ObjectPath
        /// Whether centrals may ask for indications.
        var isIndicated: Bool
        /// What it demands of its subscribers' links.
        var security: SecurityLevel
    }

    let connection: BusConnection
    let characteristics: [AttributeHandle: Characteristic]
    let kernelLinks: any KernelLinks
    let fallbackRate: FallbackRate
    let handles: AssignedHandles
    let log: RunLog
    let tell: @Sendable (BackendEvent) -> Void
    /// Finds the updates whose subscriptions are over.
    let whichAreOver: @Sendable ([Update]) -> Set<Update.ID>
    /// The path of the adapter; `nil` until it is chosen.
    private(set) var adapter: ObjectPath?
    var abilities = Abilities(of: .v5_66)

    var connectionsChanged: (@Sendable (Int) -> Void)?
    var devices = DeviceTable()
    var subscriptions = SubscriptionTable()
    var sockets: [SubscriptionTable.Socket: PacketSocket] = [:]
    var confirmations = Confirmations()
    /// The centrals that are back, and for each the one timer that counts: bluetoothd may not reach them yet.
    var returning: [Central.ID: Int] = [:]
    var lastReturn = 0
    /// Called when no confirmation is missing.
    var allConfirmed: (@Sendable () -> Void)?
    /// The application is about to be withdrawn: nothing is sent any more.
    var isEnding = false
    var receivers = SecuredReceivers()
    /// Those that the loop has not taken yet.
    let submitted = Mutex<[Update]>([])
    /// What has ended while updates were being sent; `nil` while none are.
    var endings: [(Update.ID, UpdateOutcome)]?
    /// Those that wait until it is certain how their central is reached, or until the way can change, in their order.
    var held: [Update] = []
    /// Those that wait for sockets that are full.
    var waitingPackets: [Update.ID: WaitingPackets] = [:]
    var busFairness = BusFairness()
    /// How the last update of each characteristic has gone.
    var routes: [AttributeHandle: SubscriptionTable.Route] = [:]
    /// The characteristics whose way is changing.
    var turning: Set<AttributeHandle> = []
    /// How it is known what has left.
    let tracking = DepartureTracking()
    /// The answers to `AcquireNotify` that bluetoothd may not have taken yet.
    var unsettledAnswers = UnsettledAnswers()
    var miscounts = Miscounts()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.loop.asUnownedSerialExecutor()
    }

    init(
        on connection: BusConnection,
        characteristics: [AttributeHandle: Characteristic],
        kernelLinks: any KernelLinks,
        fallbackRate: FallbackRate,
        handles: AssignedHandles,
        log: RunLog,
        whichAreOver: @escaping @Sendable ([Update]) -> Set<Update.ID> = { _ in [] },
        report: @escaping @Sendable (BackendEvent) -> Void
    ) {
        self.connection = connection
        self.characteristics = characteristics
        (self.kernelLinks, self.fallbackRate) = (kernelLinks, fallbackRate)
        self.handles = handles
        self.log = log
        self.whichAreOver = whichAreOver
        tell = report
    }

    /// Closes all sockets; nothing more is sent or heard.
    func close() {
        connectionsChanged = nil
        allConfirmed?()
        let open = sockets.values
        sockets = [:]
        for socket in open { socket.close() }
        tracking.end()
    }

    func setAbilities(_ abilities: Abilities) {
        let changes = abilities.tellsHandles != self.abilities.tellsHandles
        self.abilities = abilities
        if changes, let adapter { beginTracking(on: adapter) }
    }

    /// Says whose centrals these are.
    func setAdapter(_ adapter: ObjectPath) {
        if self.adapter == nil { logJudgement(of: adapter) }
        self.adapter = adapter
        beginTracking(on: adapter)
    }
}
