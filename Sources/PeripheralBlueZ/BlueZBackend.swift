internal import Logging
internal import PeripheralCore
package import PeripheralDBus
public import PeripheralKit
internal import PeripheralStorage

/// A backend that runs peripherals on BlueZ, the Bluetooth stack of Linux.
///
/// The backend needs BlueZ 5.66 or later. <doc:LimitsOfBlueZ> lists the limits of each version.
///
/// ```swift
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// The backend registers the services with `org.bluez.GattManager1`, and the advertisement with
/// `org.bluez.LEAdvertisingManager1`. Each run uses a separate bus connection and a separate thread. The bus
/// connection and the thread end when the run ends.
///
/// ## Pairing
///
/// When a device pairs with this machine, bluetoothd sends the pairing requests to only one program, the
/// default agent. A program that requests to be the default agent replaces the previous default agent. At the
/// start of a run, the backend requests to be the default agent, whether or not the peripheral allows
/// pairing. While the backend is the default agent, bluetoothd sends no pairing requests to other programs,
/// such as the Bluetooth settings of a desktop.
///
/// During a run, another program can become the default agent. The new default agent answers the pairing
/// requests, and might allow any central to pair. To protect a value from centrals that pair through another
/// program, use `Authorization`. Alternatively, require a high security level for the value. The security
/// level protects the value only if the pairing method of the other program does not reach this level.
///
/// bluetoothd can refuse to register the pairing agent of a peripheral:
///
/// - If bluetoothd refuses the agent of a peripheral that does not allow pairing, the run continues without
///   the agent. The backend logs a warning.
/// - If bluetoothd refuses the agent of a peripheral that allows pairing, the run fails.
///
/// With `Pairing.system`, the peripheral registers no pairing agent. If a peripheral allows pairing, the
/// adapter is pairable during the run.
///
/// ## Errors
///
/// To refuse a request, the backend must return a D-Bus error to bluetoothd. bluetoothd defines D-Bus error
/// names for only some ATT errors. A handler refuses a request by throwing an error. The framework refuses
/// some requests itself. The table lists the error that the central receives:
///
/// | Error | Error that the central receives |
/// |---|---|
/// | `.application(_:)`, 0x80 to 0x9F | the same error |
/// | `.requestNotSupported`, `.invalidOffset`, `.insufficientAuthorization` | the same error |
/// | `.invalidAttributeValueLength`, `.unlikelyError`, `.procedureAlreadyInProgress` | the same error |
/// | `.readNotPermitted` for a read, `.writeNotPermitted` for a write | the same error |
/// | `.clientCharacteristicConfigurationImproperlyConfigured` | same error, or `.unlikelyError` |
/// | any other error, such as `.valueNotAllowed` and `.outOfRange` | `.unlikelyError` |
///
/// If bluetoothd cannot send the original error to the central, the backend logs a warning. In each run, the
/// backend logs at most one warning for each error.
///
/// If a request does not meet the security requirement of an attribute, bluetoothd refuses the request
/// without calling the backend. If the required security is missing, the central receives the correct ATT
/// error. A handler cannot refuse a write to a characteristic that has the property `.writeWithoutResponse`.
/// bluetoothd treats each write to such a characteristic as successful.
///
/// ## Several advertisements
///
/// An adapter can send only a few advertisements at the same time. The maximum number of advertisements
/// applies to all programs together.
///
/// With ``Recovery/always``, the peripheral is published if bluetoothd accepts at least one advertisement.
/// `PeripheralSession.state` reports why bluetoothd has refused an advertisement. After 1 to 30 seconds, the
/// backend tries again to register the refused advertisement. The backend also repeats the registration each
/// time a central connects or disconnects.
///
/// If bluetoothd refuses all advertisements, the peripheral is not published. With
/// ``Recovery/afterPublication`` or ``Recovery/never``, the backend publishes the peripheral only if
/// bluetoothd accepts every advertisement at the start of the run.
///
/// ## Crashes of bluetoothd
///
/// bluetoothd can access freed memory and crash in these cases:
///
/// - A central disconnects before the program has answered the central's request.
/// - The peripheral sends an indication, and the run ends before the central has confirmed the indication.
///   After the run, the central confirms the indication or disconnects.
///
/// After a crash, systemd starts bluetoothd again. The backend publishes the peripheral again as soon as
/// bluetoothd is running again.
///
/// Handlers that answer requests quickly prevent most crashes during disconnections. To prevent crashes after
/// a run, the backend waits for outstanding confirmations at the end of the run. The backend waits for the
/// confirmations for at most one second. If the program is killed, the backend cannot wait for confirmations.
///
/// ## Values that require security
///
/// For notifications and indications, bluetoothd checks the security of a connection only when a central
/// subscribes. If a bonded central reconnects without encryption, bluetoothd sends values to the central
/// without encryption. Therefore the backend performs its own check for values that require security. The
/// backend first checks the security of the connections, and then passes the value to bluetoothd. The
/// security of a connection can change in the short time between the backend's check and the transmission.
///
/// The kernel reports which connections are encrypted. A program needs a Bluetooth socket to read the
/// kernel's reports. In a systemd unit, the setting `RestrictAddressFamilies=` can prohibit Bluetooth
/// sockets. In most containers, programs cannot open Bluetooth sockets. If the program cannot open a
/// Bluetooth socket, these restrictions apply:
///
/// - A central that has reconnected does not immediately receive values that require security. The central
///   must first access an attribute that requires the same security level. The backend logs that the central
///   must first access an attribute.
/// - When a central reconnects, bluetoothd reports the new connection with a short delay. During the delay,
///   the backend treats the central as disconnected. A value that the backend sends during the delay reaches
///   the central, with or without encryption.
///
/// If bluetoothd sends the pairing requests to the backend, the backend knows the pairing method of the
/// central. The backend does not know the pairing method in two cases:
///
/// - bluetoothd sends the pairing requests to the agent of another program. For example, this case occurs if
///   the peripheral uses `Pairing.system`.
/// - bluetoothd sends no pairing requests, for example if `JustWorksRepairing = always` is in bluetoothd's
///   configuration.
///
/// A different device might use the address of a bonded central, and then pair with the adapter. If the
/// backend does not know the pairing method, the backend cannot detect the different device. The backend
/// mistakes the different device for the bonded central. The backend then applies the security level of the
/// earlier bond to the different device.
///
/// ## Values in flight
///
/// bluetoothd accepts any number of values, and queues the values for transmission. bluetoothd does not
/// report when the adapter has transmitted a value. Therefore the backend detects the transmission of values
/// without the help of bluetoothd. For each central, at most 16 values are in flight at the same time.
/// `PeripheralSession.completionReporting` reports how the backend detects the transmission of values:
///
/// - `.observed` requires the capability `CAP_NET_RAW`. The backend reads the kernel's Bluetooth monitor
///   channel. The monitor channel reports when the adapter has transmitted a value. To grant `CAP_NET_RAW`,
///   write `AmbientCapabilities=CAP_NET_RAW` in a systemd unit, or run `setcap cap_net_raw+ep` on the
///   program. The backend also uses `CAP_NET_RAW` for the timing of connections, and for nothing else. A
///   filter in the kernel passes only this data of the monitor channel to the backend:
///   - the beginning of each packet that the adapter sends, up to and including the attribute handle
///   - the controller's reports about sent packets and ended connections
///
///   The filter removes keys, audio, and all data that centrals send. The filter normally removes the values
///   of updates. After a central has requested Multiple Handle Value Notifications, the backend receives the
///   values of updates.
/// - `.estimated` requires access to a Bluetooth socket, but no privilege. The backend estimates which values
///   the adapter has sent. The estimate uses the total number of packets and bytes that the adapter has sent.
///   If bluetoothd accepts a value but does not send the value, the backend pauses for 0.2 s. If a central
///   often writes without response, the transmission repeatedly pauses for 0.2 s. If the backend sends values
///   to several centrals at the same time, the slowest central limits the speed for all centrals.
/// - `.unknown` applies if the backend can neither observe nor estimate the completion of values. Possible
///   causes of `.unknown` are:
///   - The program runs in a container. Most containers do not allow Bluetooth sockets.
///   - The systemd setting `RestrictAddressFamilies=` does not include `AF_BLUETOOTH`.
///   - The driver of the adapter does not report the number of sent packets.
///
///   The backend sends values at a rate that nearly every connection can sustain. The backend sends faster
///   when confirmations or requests from a central prove that earlier values have arrived. See
///   ``FallbackRate``.
///
/// The backend cannot observe values that bluetoothd sends over an Enhanced ATT bearer. After bluetoothd has
/// sent values over an Enhanced ATT bearer, the backend pauses for 0.4 s.
///
/// ## Connections
///
/// Through a second Bluetooth socket, the controller reports why a connection has ended, and how strong the
/// signal of a central is. This requires no privilege. With `CAP_NET_RAW`, the controller also reports the
/// timing of each connection, and the backend can ask a central for another timing. A filter in the kernel
/// passes only these reports:
///
/// - the beginning, the timing and the end of a connection
/// - the answers to the two commands for the signal strength and for the timing
///
/// ## Names
///
/// The name in the advertisement is the name of the peripheral. The device name in the Generic Access service
/// is the alias of the adapter. Android shows the advertised name, and an iPhone shows the device name.
/// Therefore the adapter has the name of the peripheral during the run, if no person and no other program has
/// chosen an alias. ``AdapterSettings/Alias`` describes the rule.
///
/// The appearance in the Generic Access service is the device class of the adapter. A program cannot set it.
/// To set it on an adapter with classic Bluetooth, write the appearance as `Class` into the section
/// `[General]` of `main.conf`, such as `Class = 0x000340` for a heart rate sensor. The class has no room for
/// the two lowest bits of an appearance. On an adapter without classic Bluetooth, the appearance is 0.
public struct BlueZBackend: PeripheralBackend {
    let adapter: AdapterSelection
    let bus: BusAddress
    private let logHistory: LogHistory
    let clock: any Clock<Duration>
    let version: BlueZVersion?
    let settings: AdapterSettings
    let recovery: Recovery
    let serviceManager: SystemdNotifier?
    let fallbackRate: FallbackRate
    /// `nil` uses the kernel's information.
    let kernelLinks: (any KernelLinks)?
    /// The files of the machine that bluetoothd runs on; `nil` if they are unknown, as on another bus.
    let files: MachineFiles?
    /// `nil` uses the state directory.
    private let store: (any RestorationStore)?

    /// Creates a backend for an adapter of this machine.
    ///
    /// - Parameters:
    ///   - adapter: The adapter to use.
    ///   - settings: The adapter settings that the peripheral requires.
    ///   - recovery: Whether the run waits or ends when the backend cannot publish the peripheral.
    ///   - version: The version of BlueZ on this machine, in the format of `bluetoothd --version`. If the
    ///     value is `nil`, the backend determines the version. If bluetoothd's configuration sets `DeviceID`,
    ///     the backend cannot read the version. Without a reported version, the backend assumes the oldest
    ///     version that matches the adapter's properties.
    ///   - serviceManager: The service manager to which the backend reports the state of the peripheral. For
    ///     systemd, use `.fromEnvironment`. If the value is `nil`, the backend does not report the state.
    ///   - fallbackRate: The send rate to use if the backend cannot detect the completion of updates.
    public init(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        version: BlueZVersion? = nil,
        serviceManager: SystemdNotifier? = nil,
        fallbackRate: FallbackRate = .standard
    ) {
        self.init(
            adapter: adapter,
            settings: settings,
            recovery: recovery,
            version: version,
            serviceManager: serviceManager,
            fallbackRate: fallbackRate,
            bus: .system,
            logHistory: .ofProcess,
            files: BusAddress.system.isStandard ? MachineFiles() : nil
        )
    }

    /// Creates a backend with another bus, clock, source of link security, or store than the defaults.
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
        logHistory: LogHistory = LogHistory(),
        clock: any Clock<Duration> = ContinuousClock(),
        kernelLinks: (any KernelLinks)? = nil,
        files: MachineFiles? = nil,
        restorationStore store: (any RestorationStore)? = nil
    ) {
        self.adapter = adapter
        self.settings = settings
        self.recovery = recovery
        self.version = version
        self.serviceManager = serviceManager
        self.fallbackRate = fallbackRate
        self.bus = bus
        self.logHistory = logHistory
        self.clock = clock
        self.kernelLinks = kernelLinks
        self.files = files
        self.store = store
    }

    /// The restoration store in the state directory of the program or of the user.
    ///
    /// systemd can provide the state directory of the program. See `StateDirectory`. The backend of an
    /// emulated bluetoothd stores the state in memory instead.
    public var restorationStore: (any RestorationStore)? {
        get throws(RestorationError) {
            if let store { return store }
            return try StateDirectory()
        }
    }

    /// Examines whether the bus can be reached, unless the run waits for it.
    ///
    /// ``Recovery`` determines whether the run waits. The function does not examine bluetoothd, which the bus
    /// may start, and the adapter.
    ///
    /// - Throws: `PeripheralError` with the code `stackUnavailable` if the bus cannot be reached. The message
    ///   describes a remedy. `CancellationError` if the task is cancelled.
    public func checkAvailability() async throws {
        guard recovery != .always else { return }
        let loop = EventLoop.make(name: "peripheral")
        let outcome: Result<Void, BusError>
        do throws(BusError) {
            let connection = try await BusConnection.connect(to: bus, on: loop)
            await connection.close()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        await loop.stop()
        try Task.checkCancellation()
        guard case .failure(let error) = outcome else { return }
        let failure = RegistrationStateMachine.Failure(error, step: .connecting)
        throw PeripheralError(code: failure.code, message: failure.message)
    }

    /// Registers the services and the advertisement, and serves the requests of centrals.
    ///
    /// See `PeripheralBackend.serve(_:for:)`.
    ///
    /// The peripheral is not published in these cases:
    ///
    /// - The bus, bluetoothd or the adapter is missing or disappears.
    /// - The adapter is powered off.
    /// - The program lacks a permission.
    /// - bluetoothd refuses the registration.
    ///
    /// As soon as publication is possible again, the backend publishes the peripheral. The services keep
    /// their handles if bluetoothd has not assigned these handles to another program. ``Recovery`` determines
    /// in which cases the run waits, and in which cases the run fails.
    ///
    /// - Throws: `PeripheralError` if ``Recovery`` ends the run because the backend cannot publish the
    ///   peripheral. The message of the error describes a remedy. `DeclarationError` if the running version
    ///   of BlueZ does not support the declaration. `BlueZVersionError` if the version that the program names
    ///   is a malformed literal. `CancellationError` if the task is cancelled.
    public func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        if let version, let error = BlueZVersionError(version) { throw error }
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
        // Unlike the limit of the host, this limit also covers a program with a new peripheral in each run.
        let limit = LogLimit(of: host.logger, after: logHistory, clock: clock)
        defer { limit.end() }
        let supervisor = Supervisor(of: publication, for: host, by: self, on: loop, logger: limit.limited)
        // The registrations must be withdrawn in order even if this task is cancelled. Cancellation would end
        // each wait for bluetoothd's reply. So another task does the work, and this one always waits for it.
        let task = Task { await supervisor.run() }
        let failure = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            supervisor.stop()
        }
        if let failure {
            guard failure.issues.isEmpty else { throw DeclarationError(issues: failure.issues) }
            throw PeripheralError(code: failure.code, message: failure.message)
        }
        try Task.checkCancellation()
    }
}

extension PeripheralBackend where Self == BlueZBackend {
    /// A BlueZ backend that uses the first adapter that is powered on.
    public static var bluez: BlueZBackend { BlueZBackend() }

    /// Returns a BlueZ backend that uses the selected adapter.
    ///
    /// - Parameters:
    ///   - adapter: The adapter to use.
    ///   - settings: The adapter settings that the peripheral requires.
    ///   - recovery: Whether the run waits or ends when the backend cannot publish the peripheral.
    ///   - version: The version of BlueZ. If the value is `nil`, the backend determines the version.
    ///   - serviceManager: The service manager to which the backend reports the state of the peripheral. If
    ///     the value is `nil`, the backend does not report the state.
    ///   - fallbackRate: The send rate to use if the backend cannot detect the completion of updates.
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
