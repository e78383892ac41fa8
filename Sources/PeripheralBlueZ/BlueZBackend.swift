public import Logging
public import PeripheralCore
package import PeripheralDBus
public import PeripheralKit
internal import PeripheralStorage

/// Runs peripherals on BlueZ, the Bluetooth stack of Linux; 5.66 or later.
///
/// ```swift
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// The services are registered through `org.bluez.GattManager1`, the advertisement through
/// `org.bluez.LEAdvertisingManager1`. Each run has a connection to the bus and a thread of its own; nothing is
/// left of either when it ends.
///
/// ## Pairing
///
/// bluetoothd asks one program, its default agent, about every device that pairs with this machine: the one that has
/// asked last to be it. A peripheral asks when it begins to run, also where nobody may pair with it, so that the agents
/// of other programs, such as a desktop's settings, are not asked meanwhile. A program that asks later takes the
/// questions over, and answers them its own way; what must not be read by whom it lets in needs an attribute security
/// that its way does not reach, or `Authorization`. Where nobody may pair, the peripheral goes on also when bluetoothd
/// does not take its agent, with a warning in the log; where centrals may, it fails. With `Pairing.system`, there is no
/// agent. Where centrals may pair, the adapter is pairable meanwhile.
///
/// ## Errors
///
/// bluetoothd takes refusals as D-Bus errors, which have names for a part of the ATT errors. What a handler throws, or
/// the framework refuses by, reaches the central so:
///
/// | Error | What the central sees |
/// |---|---|
/// | `.application(_:)`, 0x80 to 0x9F | the same |
/// | `.requestNotSupported`, `.invalidOffset`, `.insufficientAuthorization`, `.invalidAttributeValueLength`, `.unlikelyError`, `.procedureAlreadyInProgress` | the same |
/// | `.readNotPermitted` for a read, `.writeNotPermitted` for a write | the same |
/// | `.clientCharacteristicConfigurationImproperlyConfigured` | the same; before BlueZ 5.76 `.unlikelyError` |
/// | any other, such as `.valueNotAllowed` and `.outOfRange` | `.unlikelyError` |
///
/// The log is warned of each error that changes on its way, once in a run. What attribute security refuses, bluetoothd
/// answers by itself, with the right error. A characteristic with `.writeWithoutResponse` refuses nothing: to bluetoothd,
/// each write to it has succeeded.
///
/// ## Several advertisements
///
/// An adapter has room for a few advertisements, of all programs together. With ``Recovery/always``, one that bluetoothd
/// refuses takes nothing from the others: those are on the air, `PeripheralSession.state` tells the reason, and the refused
/// one is tried again after 1 to 30 seconds, and whenever a central comes or goes. When none is taken, or with another
/// ``Recovery`` at the start, the peripheral is not published.
///
/// ## What may end bluetoothd
///
/// bluetoothd crashes at times (a use after free, 5.66 to 5.87) when a central leaves while its request is not answered, or
/// when a central confirms an indication, or leaves, after the run that has sent it. The peripheral comes back as soon as
/// bluetoothd does, which systemd starts again. Handlers that answer quickly make it rare; and a run that ends waits for
/// confirmations that are missing, for a second at most. A program that is killed does not.
///
/// From 5.76 on, bluetoothd closes by mistake the socket of the first subscriber when one that is not bonded leaves. The
/// peripheral reaches that subscriber by the bus from then on; what lay in the socket at that moment is lost, though it
/// counts as delivered. Where each value counts, use `indicate`.
///
/// ## Values that demand security
///
/// bluetoothd checks the security of a link when a central subscribes, and never again: a bonded central that returns
/// without encrypting would be sent what it has subscribed to in the clear. So the backend looks at the links itself before
/// it hands over a value that demands security; what remains is the instant between. The kernel tells which links are
/// encrypted, to any program that may open a Bluetooth socket; for systemd, see `RestrictAddressFamilies=`. Where it does
/// not, as in most containers, a central that returns has to use an attribute of that security first, as the log says; and
/// until bluetoothd tells of its return, a moment later, it counts as away: what is sent just then reaches it, encrypted
/// or not.
///
/// How a central has paired is known where this program is asked. Who pairs anew under the address of a bonded central
/// counts as that central, with what it had proven, where another agent is asked, as with `Pairing.system`, or nobody, as
/// by `JustWorksRepairing = always` in bluetoothd's configuration.
///
/// From bluetoothd before 5.76, which reaches all subscribers together, one whose link is not secure keeps the values from
/// all. The log tells so once for each characteristic.
///
/// ## What is on its way
///
/// bluetoothd takes whatever it is given, keeps it without bound until the link has carried it, and tells nothing of that.
/// So the backend finds out by itself what has left, and gives bluetoothd no more than 16 values for a central at a time;
/// `PeripheralSession.pacing` tells how:
///
/// - `.observed`, with the capability `CAP_NET_RAW` (`AmbientCapabilities=CAP_NET_RAW` in a unit of systemd, or
///   `setcap cap_net_raw+ep`): each value is seen to leave in the kernel's Bluetooth monitor channel, which is the only
///   thing that this capability is used for. A filter in the kernel passes on the heads of the packets that the adapter sends
///   with what they are about, when they have been sent, and which connections have ended; no key, no sound and nothing that is
///   received, and no value, but of updates that a central wants several of in one packet.
/// - `.estimated`, where the program may open a Bluetooth socket, which needs no privilege: what has left is concluded from
///   how much the adapter has sent altogether. Values that bluetoothd does not send after all, and centrals that
///   write much without response, cost pauses of 0.2 s then. How fast each of several centrals is gets measured now and
///   then.
/// - `.unknown` otherwise, as in most containers, with a `RestrictAddressFamilies=` that lacks `AF_BLUETOOTH`, or with a driver
///   that counts nothing: values go at a pace that nearly any link carries, and as fast as a central shows that they arrive;
///   see ``FallbackRate``.
///
/// Values that bluetoothd sends by the Enhanced ATT bearer are not seen to leave, and cost pauses of 0.4 s; it uses this bearer by default
/// before 5.67, with centrals that ask for it.
///
/// ## Names
///
/// BlueZ shows the name of the adapter, not that of the peripheral, to centrals that read the device name of
/// the Generic Access service; the peripheral's name is in the advertisement.
public struct BlueZBackend: PeripheralBackend {
    let adapter: AdapterSelection
    let bus: BusAddress
    private(set) var logger: Logger
    let clock: any Clock<Duration>
    let version: BlueZVersion?
    let settings: AdapterSettings
    let recovery: Recovery
    let serviceManager: ServiceManager?
    let fallbackRate: FallbackRate
    /// `nil` for what the kernel says.
    let kernelLinks: (any KernelLinks)?

    /// Uses an adapter of this machine.
    ///
    /// - Parameters:
    ///   - adapter: Which one.
    ///   - settings: What is demanded of it.
    ///   - recovery: When the run goes on although the peripheral cannot be on the air.
    ///   - version: The version of BlueZ that runs there, as `bluetoothd --version` prints it; `nil` to find out.
    ///     bluetoothd tells unless `DeviceID` is set in its configuration; then the oldest version is assumed that
    ///     it may be.
    ///   - serviceManager: Who is told how the peripheral does, such as `.fromEnvironment`; nobody when `nil`.
    ///   - fallbackRate: How fast each central is sent values where nothing tells when they leave.
    ///   - logger: Where the backend tells what cannot be told otherwise.
    public init(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: ServiceManager? = nil,
        fallbackRate: FallbackRate = .standard,
        logger: Logger = Logger(label: "peripheral.bluez")
    ) {
        self.init(
            adapter: adapter,
            settings: settings,
            recovery: recovery,
            version: version,
            serviceManager: serviceManager,
            fallbackRate: fallbackRate,
            bus: .system,
            logger: logger
        )
    }

    /// Uses the daemon on another bus than the system's, another clock for what is tried again after a while, or other
    /// knowledge of its links than the kernel's.
    package init(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: ServiceManager? = nil,
        fallbackRate: FallbackRate = .standard,
        bus: BusAddress,
        logger: Logger = Logger(label: "peripheral.bluez"),
        clock: any Clock<Duration> = ContinuousClock(),
        kernelLinks: (any KernelLinks)? = nil
    ) {
        self.adapter = adapter
        self.settings = settings
        self.recovery = recovery
        self.version = version
        self.serviceManager = serviceManager
        self.fallbackRate = fallbackRate
        self.bus = bus
        self.logger = logger
        self.clock = clock
        self.kernelLinks = kernelLinks
    }

    /// The directory that systemd has made for the state of this program, or else that of the user; see `StateDirectory`.
    public var restorationStore: (any RestorationStore)? {
        get throws(RestorationError) { try StateDirectory() }
    }

    /// Registers the services, then the advertisement, and serves them; see
    /// `PeripheralBackend.serve(_:for:)`.
    ///
    /// When the bus, bluetoothd or the adapter is missing or goes away, when the adapter is powered off, when a permission
    /// is missing or bluetoothd refuses, the peripheral is published again as soon as that is mended, at the same handles
    /// unless another program has taken them; ``Recovery`` tells how far that goes.
    ///
    /// - Throws: `PeripheralError` in words that say what to do, where ``Recovery`` does not have it wait.
    ///   `DeclarationError` when the running version of BlueZ cannot serve what is
    ///   declared. `CancellationError` when cancelled.
    public func serve(_ publication: Publication, for host: any PeripheralHost) async throws {
        let loop = EventLoop.make(name: "peripheral")
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await serve(publication, for: host, on: loop))
        } catch {
            outcome = .failure(error)
        }
        await loop.stop()
        try outcome.get()
    }

    func serve(_ publication: Publication, for host: any PeripheralHost, on loop: EventLoop) async throws {
        let limit = LogLimit(of: logger, clock: clock)
        defer { limit.end() }
        var backend = self
        backend.logger = limit.limited
        let life = Life(of: publication, for: host, by: backend, on: loop)
        // What is registered has to be withdrawn in order also when this task is cancelled, which would end each
        // wait for bluetoothd's answer: hence a task of its own, which this one never leaves alone.
        let task = Task { await life.run() }
        let failure = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            life.stop()
        }
        if let failure {
            guard failure.issues.isEmpty else { throw DeclarationError(issues: failure.issues) }
            throw PeripheralError(code: failure.code, message: failure.message)
        }
        try Task.checkCancellation()
    }
}

extension PeripheralBackend where Self == BlueZBackend {
    /// BlueZ, on the first adapter that is powered on.
    public static var bluez: BlueZBackend { BlueZBackend() }

    /// BlueZ, on this adapter, and of this version if bluetoothd does not tell its own; the service manager is told how
    /// the peripheral does.
    public static func bluez(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: ServiceManager? = nil,
        fallbackRate: FallbackRate = .standard
    ) -> BlueZBackend {
        BlueZBackend(
            adapter: adapter,
            settings: settings,
            recovery: recovery,
            version: version,
            serviceManager: serviceManager,
            fallbackRate: fallbackRate
        )
    }
}
