public import Logging
internal import PeripheralCore
package import PeripheralDBus
public import PeripheralKit
internal import PeripheralStorage

/// A backend that runs peripherals on BlueZ, the Bluetooth stack of Linux.
///
/// It needs BlueZ 5.66 or later.
///
/// ```swift
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// The backend registers the services with `org.bluez.GattManager1`, and the advertisement with
/// `org.bluez.LEAdvertisingManager1`. Each run has its own bus connection and its own thread. Both end with
/// the run.
///
/// ## Pairing
///
/// bluetoothd asks only one program, its default agent, about each device that pairs with this machine. The
/// default agent is the program that requested this role last. A peripheral requests it at the start of a
/// run, even if the peripheral does not let centrals pair. The agents of other programs, such as a desktop's
/// settings, are not asked during that time.
///
/// A program that requests the role later takes over, and answers according to its own rules. To protect a
/// value from centrals that such a program lets pair, use a security level that its pairing method cannot
/// reach, or use `Authorization`.
///
/// If bluetoothd does not accept the agent, the result depends on the peripheral:
///
/// - A peripheral that does not let centrals pair continues, and logs a warning.
/// - A peripheral that lets centrals pair fails.
///
/// With `Pairing.system`, there is no agent. During a run that lets centrals pair, the adapter is pairable.
///
/// ## Errors
///
/// bluetoothd takes refusals as D-Bus errors, and has names for only some ATT errors. An error that a handler
/// throws, or that the framework uses to refuse a request, reaches the central as follows:
///
/// | Error | Error that the central receives |
/// |---|---|
/// | `.application(_:)`, 0x80 to 0x9F | the same |
/// | `.requestNotSupported`, `.invalidOffset`, `.insufficientAuthorization` | the same |
/// | `.invalidAttributeValueLength`, `.unlikelyError`, `.procedureAlreadyInProgress` | the same |
/// | `.readNotPermitted` for a read, `.writeNotPermitted` for a write | the same |
/// | `.clientCharacteristicConfigurationImproperlyConfigured` | the same; `.unlikelyError` before 5.76 |
/// | any other, such as `.valueNotAllowed` and `.outOfRange` | `.unlikelyError` |
///
/// The backend logs a warning for each error that reaches the central as another one, once in a run.
///
/// If a request does not meet the attribute's security, bluetoothd refuses it without asking the backend,
/// with the correct error. A characteristic with `.writeWithoutResponse` cannot refuse a write: bluetoothd
/// treats each write to it as successful.
///
/// ## Several advertisements
///
/// An adapter has room for a few advertisements, shared by all programs.
///
/// With ``Recovery/always``, the other advertisements stay on the air if bluetoothd refuses one of them.
/// `PeripheralSession.state` reports the reason. The backend tries the refused one again after 1 to 30
/// seconds, and whenever a central connects or disconnects.
///
/// The peripheral is not published if bluetoothd refuses all advertisements. With another ``Recovery``, it is
/// not published at the start if bluetoothd refuses one.
///
/// ## Crashes of bluetoothd
///
/// bluetoothd 5.66 to 5.87 can crash because of a use after free in these cases:
///
/// - A central disconnects before its request is answered.
/// - A central confirms an indication, or disconnects, after the end of the run that sent the indication.
///
/// systemd starts bluetoothd again, and the peripheral is published again as soon as bluetoothd runs.
/// Handlers that answer quickly make the first case rare. For the second case, a run that ends waits for
/// missing confirmations, for at most one second. A program that is killed does not wait.
///
/// From 5.76 on, bluetoothd closes the socket of the first subscriber by mistake when a subscriber that is
/// not bonded disconnects. From then on, the peripheral reaches the first subscriber through the bus. Values
/// in the socket at that moment are lost, although they count as completed. Use `indicate` if every value
/// matters.
///
/// ## Values that require security
///
/// bluetoothd checks the security of a connection only when a central subscribes. If a bonded central
/// reconnects without encrypting, bluetoothd would send it the subscribed values in the clear. Therefore the
/// backend checks the connections before it hands a value that requires security to bluetoothd. A short gap
/// remains between the check and the transmission.
///
/// The kernel reports which connections are encrypted to any program that may open a Bluetooth socket. For
/// systemd, see `RestrictAddressFamilies=`. If the kernel does not report them, as in most containers:
///
/// - A central that reconnects must first use an attribute of that security level, as the log says.
/// - A central that reconnects counts as disconnected until bluetoothd reports its return, a moment later.
///   Values sent during that moment reach the central, encrypted or not.
///
/// The backend knows how a central has paired if bluetoothd asks this program. It does not know if another
/// agent is asked, as with `Pairing.system`, or if no agent is asked, as with `JustWorksRepairing = always`
/// in bluetoothd's configuration. In these cases, a device that pairs again under the address of a bonded
/// central counts as that central, with the security that the central had reached.
///
/// Before 5.76, bluetoothd reaches all subscribers together. One subscriber on a connection that is not
/// secure keeps the values from all of them. The log reports this once for each characteristic.
///
/// ## Values in flight
///
/// bluetoothd accepts values without limit, queues them until the connection has carried them, and does not
/// report when they leave the device. Therefore the backend determines this separately, and gives bluetoothd
/// at most 16 values for each central at a time. `PeripheralSession.completionReporting` reports the method:
///
/// - `.observed`, with the capability `CAP_NET_RAW`: the backend sees each value leave the device in the
///   kernel's Bluetooth monitor channel. Grant the capability with `AmbientCapabilities=CAP_NET_RAW` in a
///   systemd unit, or with `setcap cap_net_raw+ep`. The backend uses the capability for nothing else. A
///   filter in the kernel passes only these parts:
///   - the beginning of each packet that the adapter sends, up to the attribute that it concerns
///   - the reports that packets have been sent, and that a connection has ended
///
///   The filter passes no keys, no audio and no received data. It passes values only if a central requests
///   several updates in one packet.
/// - `.estimated`, if the program may open a Bluetooth socket, which needs no privilege: the backend
///   estimates which values have left the device from the total that the adapter has sent. Values that
///   bluetoothd does not send, and centrals that write much without response, cause pauses of 0.2 s. With
///   several centrals, the backend measures the speed of each one from time to time.
/// - `.unknown` otherwise. Examples are most containers, a `RestrictAddressFamilies=` without `AF_BLUETOOTH`,
///   and a driver that does not count packets. The backend sends values at a rate that nearly every
///   connection carries, and faster if a central shows that they arrive. See ``FallbackRate``.
///
/// The backend does not see values leave that bluetoothd sends over the Enhanced ATT bearer. They cause
/// pauses of 0.4 s. Before 5.67, bluetoothd uses this bearer by default with centrals that request it.
///
/// ## Names
///
/// Centrals that read the device name of the Generic Access service get the name of the adapter. The
/// advertisement contains the peripheral's name.
public struct BlueZBackend: PeripheralBackend {
    let adapter: AdapterSelection
    let bus: BusAddress
    private(set) var logger: Logger
    let clock: any Clock<Duration>
    let version: BlueZVersion?
    let settings: AdapterSettings
    let recovery: Recovery
    let serviceManager: SystemdNotifier?
    let fallbackRate: FallbackRate
    /// `nil` uses the kernel's information.
    let kernelLinks: (any KernelLinks)?

    /// Creates a backend for an adapter of this machine.
    ///
    /// - Parameters:
    ///   - adapter: The adapter to use.
    ///   - settings: The settings that the peripheral requires of the adapter.
    ///   - recovery: How the run continues while the peripheral cannot be on the air.
    ///   - version: The version of BlueZ on this machine, as `bluetoothd --version` prints it. With `nil`,
    ///     the backend finds it out: bluetoothd reports its version unless `DeviceID` is set in its
    ///     configuration. If it does not report it, the backend assumes the oldest version that it can be.
    ///   - serviceManager: The service manager that is notified of the peripheral's state, such as
    ///     `.fromEnvironment`; `nil` notifies none.
    ///   - fallbackRate: The send rate used when the adapter does not report completed packets.
    ///   - logger: The logger for everything that the backend cannot report in another way.
    public init(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: SystemdNotifier? = nil,
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

    /// Creates a backend with another bus, clock, or source of link security than the defaults.
    ///
    /// The clock is used for everything that is tried again after a delay.
    package init(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: SystemdNotifier? = nil,
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

    /// The state directory that systemd provides for this program, or that of the user; see `StateDirectory`.
    public var restorationStore: (any RestorationStore)? {
        get throws(RestorationError) { try StateDirectory() }
    }

    /// Registers the services and the advertisement, and serves them.
    ///
    /// See `PeripheralBackend.serve(_:for:)`.
    ///
    /// The peripheral goes off the air if:
    ///
    /// - the bus, bluetoothd or the adapter is missing or disappears
    /// - the adapter is powered off
    /// - a permission is missing
    /// - bluetoothd refuses the registration
    ///
    /// It is published again as soon as the cause is removed. It gets the same handles unless another program
    /// has taken them. ``Recovery`` decides in which cases the peripheral waits.
    ///
    /// - Throws: `PeripheralError` with a message that says what to do, if ``Recovery`` does not let the
    ///   peripheral wait. `DeclarationError` if the running version of BlueZ cannot serve the declaration.
    ///   `CancellationError` if cancelled.
    public func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
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

    func serve(_ publication: BackendPublication, for host: any PeripheralHost, on loop: EventLoop)
        async throws
    {
        let limit = LogLimit(of: logger, clock: clock)
        defer { limit.end() }
        var backend = self
        backend.logger = limit.limited
        let life = Supervisor(of: publication, for: host, by: backend, on: loop)
        // The registrations must be withdrawn in order even if this task is cancelled. Cancellation would end
        // each wait for bluetoothd's reply. So another task does the work, and this one always waits for it.
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
    /// BlueZ on the first adapter that is powered on.
    public static var bluez: BlueZBackend { BlueZBackend() }

    /// BlueZ on the selected adapter.
    ///
    /// - Parameters:
    ///   - adapter: The adapter to use.
    ///   - settings: The settings that the peripheral requires of the adapter.
    ///   - recovery: How the run continues while the peripheral cannot be on the air.
    ///   - version: The version of BlueZ; `nil` to find it out.
    ///   - serviceManager: The service manager that is notified of the peripheral's state; `nil` notifies
    ///     none.
    ///   - fallbackRate: The send rate used when the adapter does not report completed packets.
    /// - Returns: The backend.
    public static func bluez(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: SystemdNotifier? = nil,
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
