public import Logging
internal import PeripheralCore
package import PeripheralDBus
public import PeripheralKit
internal import PeripheralStorage

/// A backend that runs peripherals on BlueZ, the Bluetooth stack of Linux.
///
/// The backend needs BlueZ 5.66 or later.
///
/// ```swift
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// The backend registers the services with `org.bluez.GattManager1`, and the advertisement with
/// `org.bluez.LEAdvertisingManager1`. Each run uses a separate bus connection and a separate thread. The
/// connection and the thread end with the run.
///
/// ## Pairing
///
/// bluetoothd asks only one program, its default agent, about each device that pairs with this machine. The
/// default agent is the program that requested this role last. A peripheral requests the role at the start of
/// a run, even if the peripheral does not let centrals pair. During the run, bluetoothd does not ask the
/// agents of other programs, such as a desktop's settings.
///
/// A program that requests the role later becomes the default agent, and answers according to its own rules.
/// Such a program may let any central pair. To protect a value from these centrals, use `Authorization`, or a
/// security level that the program's pairing method cannot reach.
///
/// If bluetoothd does not accept the agent, the result depends on the peripheral:
///
/// - A peripheral that does not let centrals pair continues, and logs a warning.
/// - A peripheral that lets centrals pair fails.
///
/// With `Pairing.system`, the peripheral registers no agent. During a run that lets centrals pair, the
/// adapter is pairable.
///
/// ## Errors
///
/// bluetoothd accepts a refusal only as a D-Bus error, and has D-Bus names for only some ATT errors. Handlers
/// throw errors, and the framework uses errors to refuse requests. Such an error reaches the central as
/// follows:
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
/// If the central receives a different error, the backend logs a warning. It logs the warning once in a run
/// for each error.
///
/// If a request does not meet the attribute's security, bluetoothd refuses the request without asking the
/// backend. The central then receives the correct error. A characteristic with `.writeWithoutResponse` cannot
/// refuse a write. bluetoothd treats each write to this characteristic as successful.
///
/// ## Several advertisements
///
/// An adapter has room for a few advertisements, and all programs share this room.
///
/// With ``Recovery/always``, bluetoothd can refuse one advertisement while the other advertisements stay on
/// the air. `PeripheralSession.state` reports the reason. The backend registers the refused advertisement
/// again after 1 to 30 seconds, and whenever a central connects or disconnects.
///
/// If bluetoothd refuses all advertisements, the peripheral is not published. With another ``Recovery``, one
/// refused advertisement at the start is enough to prevent the publication.
///
/// ## Crashes of bluetoothd
///
/// bluetoothd 5.66 to 5.87 can crash because of a use after free in these cases:
///
/// - A central disconnects before its request is answered.
/// - A central confirms an indication, or disconnects, after the end of the run that sent the indication.
///
/// After a crash, systemd starts bluetoothd again, and the backend publishes the peripheral again as soon as
/// bluetoothd runs. Handlers that answer quickly make the first case rare. Because of the second case, a run
/// that ends waits at most one second for missing confirmations. A program that is killed does not wait.
///
/// bluetoothd 5.76 and later closes the first subscriber's socket by mistake when a subscriber that is not
/// bonded disconnects. From then on, the peripheral reaches the first subscriber through the bus. Values in
/// the socket at that moment are lost, although they count as completed. If every value matters, use
/// `indicate`.
///
/// ## Values that require security
///
/// bluetoothd checks the security of a connection only when a central subscribes. If a bonded central
/// reconnects without encrypting, bluetoothd would send subscribed values to this central without encryption.
/// Therefore the backend checks the connections before it passes a value that requires security to
/// bluetoothd. A short gap remains between the check and the transmission.
///
/// The kernel reports which connections are encrypted. Any program that may open a Bluetooth socket can read
/// these reports. For systemd, see `RestrictAddressFamilies=`. In most containers, these reports are missing.
/// If they are missing:
///
/// - A central that reconnects must first use an attribute of the required security level, as the log says.
/// - A central that reconnects counts as disconnected until bluetoothd reports the connection a moment later.
///   Values sent during that moment reach the central, with or without encryption.
///
/// If bluetoothd asks this program about a pairing, the backend knows how the central has paired. The backend
/// does not know this in two cases:
///
/// - bluetoothd asks another agent, as with `Pairing.system`.
/// - bluetoothd asks no agent, as with `JustWorksRepairing = always` in its configuration.
///
/// In these cases, a device can pair again under the address of a bonded central. The device then counts as
/// the bonded central, with the security that the bonded central had reached.
///
/// Before 5.76, bluetoothd sends a value to all subscribers together. Therefore a single subscriber on an
/// insecure connection blocks the value for all subscribers. The log reports the block once for
/// each characteristic.
///
/// ## Values in flight
///
/// bluetoothd accepts values without limit and queues them until the connection has carried them. It does not
/// report when values leave the device. Therefore the backend determines separately when a value has left the
/// device. The backend passes at most 16 values for each central to bluetoothd at a time.
/// `PeripheralSession.completionReporting` reports the method:
///
/// - `.observed`, with the capability `CAP_NET_RAW`: the backend observes in the kernel's Bluetooth monitor
///   channel when each value leaves the device. Grant the capability with `AmbientCapabilities=CAP_NET_RAW`
///   in a systemd unit, or with `setcap cap_net_raw+ep`. The backend uses the capability for nothing else. A
///   filter in the kernel passes only these parts:
///   - the beginning of each packet that the adapter sends, up to the attribute that it concerns
///   - the reports that packets have been sent, and that a connection has ended
///
///   The filter passes no keys, no audio and no received data. It passes values only if a central requests
///   several updates in one packet.
/// - `.estimated`, if the program may open a Bluetooth socket, which needs no privilege: the backend
///   estimates which values have left the device. The estimate uses the total number of packets and bytes
///   that the adapter has sent. Two causes lead to pauses of 0.2 s: values that bluetoothd does not send, and
///   centrals that write much without response. If several centrals are sent values at the same time, the
///   slowest one sets the speed for all.
/// - `.unknown` otherwise. Examples are most containers, a `RestrictAddressFamilies=` without `AF_BLUETOOTH`,
///   and a driver that does not count packets. The backend sends values at a rate that nearly every
///   connection carries. If a central shows that the values arrive, the backend sends faster. See
///   ``FallbackRate``.
///
/// The backend cannot observe values that bluetoothd sends over the Enhanced ATT bearer. These values cause
/// pauses of 0.4 s. Before 5.67, bluetoothd uses this bearer by default with centrals that request it.
///
/// ## Names
///
/// Centrals that read the device name of the Generic Access service receive the name of the adapter. The
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
    ///     the backend determines the version. bluetoothd reports its version unless its configuration sets
    ///     `DeviceID`. Without this report, the backend assumes the oldest version that matches the adapter.
    ///   - serviceManager: The service manager that is notified of the peripheral's state, such as
    ///     `.fromEnvironment`. With `nil`, no service manager is notified.
    ///   - fallbackRate: The send rate used when the completion of updates is not reported.
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

    /// The store in the state directory of the program or of the user.
    ///
    /// systemd can provide the directory of the program; see `StateDirectory`.
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
    /// The backend publishes the peripheral again as soon as the cause is removed. The services keep their
    /// handles unless another program has received these handles. ``Recovery`` decides in which cases the
    /// peripheral waits.
    ///
    /// - Throws: `PeripheralError` with a message that says what to do, if ``Recovery`` does not let the
    ///   peripheral wait. `DeclarationError` if the running version of BlueZ cannot serve the declaration.
    ///   `CancellationError` if the task is cancelled.
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
    ///   - version: The version of BlueZ. With `nil`, the backend determines the version.
    ///   - serviceManager: The service manager that is notified of the peripheral's state. With `nil`, no
    ///     service manager is notified.
    ///   - fallbackRate: The send rate used when the completion of updates is not reported.
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
