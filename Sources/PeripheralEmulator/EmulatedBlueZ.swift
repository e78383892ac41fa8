package import Logging
public import PeripheralBlueZ
internal import PeripheralDBus
public import PeripheralKit
public import PeripheralTesting
internal import Synchronization

/// Runs bluetoothd's look-alike on a message bus of its own while the body runs.
///
/// ```swift
/// try await withEmulatedBlueZ { bluez in
///     try await peripheral.run(on: bluez.backend) { session in
///         let central = bluez.central(for: peripheral)
///         try await central.connect()
///         …
///     }
/// }
/// ```
///
/// Everything but the radio is real: the peripheral talks to a `dbus-daemon` through libdbus, as it does on a device.
/// When the call returns, whatever the body does, the bus and its process, thread and files are gone.
///
/// - Parameters:
///   - configuration: What the look-alike looks like.
///   - body: What to do with it.
/// - Returns: What the body returns.
/// - Throws: ``PrivateBus/StartError`` when `dbus-daemon` is not installed or cannot start; `CancellationError` when
///   the task is cancelled before the body begins; otherwise what the body throws.
@discardableResult
public func withEmulatedBlueZ<Output>(
    _ configuration: EmulatedBlueZ.Configuration = EmulatedBlueZ.Configuration(),
    _ body: (_ bluez: EmulatedBlueZ) async throws -> Output
) async throws -> Output {
    let bus = try await PrivateBus()
    let loop = EventLoop(name: "bluetoothd")
    let bluez = EmulatedBlueZ(configuration, on: bus, loop: loop)
    let outcome: Result<Output, any Error>
    do {
        outcome = .success(try await bluez.run(body))
    } catch {
        outcome = .failure(error)
    }
    await loop.stop()
    bus.stop()
    return try outcome.get()
}

/// `org.bluez` as bluetoothd speaks it, on a private message bus, with adapters that have no radio.
///
/// It is right when the conformance suite cannot tell it from the real daemon, and imitates what was recorded of
/// that: the order of calls, options, errors, handles, advertising bytes. ``withEmulatedBlueZ(_:_:)`` makes one.
public final class EmulatedBlueZ: Sendable {
    /// What it looks like.
    public let configuration: Configuration

    private let bus: PrivateBus
    private let loop: EventLoop
    private let tasks: LoopTasks
    private let hardware: Mutex<Hardware>
    private let daemon = Mutex<BluetoothDaemon?>(nil)

    fileprivate init(_ configuration: Configuration, on bus: PrivateBus, loop: EventLoop) {
        self.configuration = configuration
        self.bus = bus
        self.loop = loop
        tasks = LoopTasks(on: loop)
        hardware = Mutex(Hardware(configuration))
    }

    fileprivate func run<Output>(_ body: (EmulatedBlueZ) async throws -> Output) async throws -> Output {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.tasks.run() }
            let outcome: Result<Output, any Error>
            do {
                try await startDaemon()
                outcome = .success(try await body(self))
            } catch let error as BusError {
                // The bus says so in its own way when the task is cancelled before all is there.
                outcome = .failure(Task.isCancelled ? CancellationError() : error)
            } catch {
                outcome = .failure(error)
            }
            await killDaemon()
            group.cancelAll()
            try await group.waitForAll()
            return try outcome.get()
        }
    }
}

// MARK: - Use

extension EmulatedBlueZ {
    /// The address of the bus in D-Bus notation, for other programs: `busctl --address=… tree org.bluez`.
    public var busAddress: String { bus.address }

    /// BlueZ, on the first adapter that is powered on.
    public var backend: BlueZBackend { backend() }

    /// BlueZ, on this adapter, with these demands.
    public func backend(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always
    ) -> BlueZBackend {
        backend(adapter: adapter, settings: settings, recovery: recovery, clock: ContinuousClock())
    }

    /// BlueZ, with a clock that measures what the backend waits for, and a log.
    package func backend(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        logger: Logger = Logger(label: "peripheral.bluez"),
        clock: any Clock<Duration>
    ) -> BlueZBackend {
        BlueZBackend(
            adapter: adapter,
            settings: settings,
            recovery: recovery,
            // What it is given, the central has at once.
            fallbackRate: .unlimited,
            bus: .address(bus.address),
            logger: logger,
            clock: clock,
            kernelLinks: EmulatedKernelLinks { name in self.hardware.withLock { $0.controller(named: name) }
            }
        )
    }

    /// Makes a central near an adapter, with an address of its own, not yet connected.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral that it looks for; it tells where a `Characteristic` stands.
    ///   - adapter: The name of the adapter; `nil` for the first. Near one that is not there, nothing is on the air.
    ///   - patience: How long it waits for an advertisement or an update before it throws.
    ///   - clock: What measures that time.
    /// - Returns: The central. Connect it with the MTU that it shall have.
    public func central(
        for peripheral: Peripheral,
        near adapter: String? = nil,
        patience: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> VirtualCentral {
        let controller = hardware.withLock { $0.controller(named: adapter) }
        let server = controller?.server ?? VirtualGATTServer(deviceName: "")
        return VirtualCentral(of: peripheral, on: server, patience: patience, clock: clock)
    }
}

// MARK: - Life

extension EmulatedBlueZ {
    /// Starts bluetoothd; it runs already when ``withEmulatedBlueZ(_:_:)`` calls its body.
    ///
    /// - Throws: When the bus is gone, or bluetoothd is running.
    public func startDaemon() async throws {
        let controllers = hardware.withLock { $0.pluggedIn }
        let started = try await BluetoothDaemon.start(
            on: bus.address,
            loop: loop,
            tasks: tasks,
            configuration: configuration,
            controllers: controllers
        )
        daemon.withLock { $0 = started }
    }

    /// Ends bluetoothd in order, as `systemctl stop bluetooth` does: it takes its objects off the bus, then its name.
    public func stopDaemon() async {
        await daemon.withLock { $0.take() }?.stop()
    }

    /// Ends bluetoothd at once, as a crash does: only its name disappears.
    public func killDaemon() async {
        await daemon.withLock { $0.take() }?.kill()
    }

    /// Ends bluetoothd in order and starts it again: nothing is registered any more, and handles begin anew.
    ///
    /// - Throws: When the bus is gone.
    public func restartDaemon() async throws {
        await stopDaemon()
        try await startDaemon()
    }

    /// Kills the message bus, as a crash of it would; bluetoothd ends with it.
    public func killBus() async {
        bus.kill()
        await killDaemon()
    }

    /// Starts the message bus again after ``killBus()``, at the same address; ``startDaemon()`` is left to do.
    ///
    /// - Throws: ``PrivateBus/StartError``.
    public func startBus() async throws {
        try await bus.restart()
    }

    /// Has the policy of the bus let programs call bluetoothd, as it does at first, or not.
    ///
    /// - Throws: When the bus is gone.
    public func setPermitted(_ isPermitted: Bool) async throws {
        try bus.writeConfiguration(denyingCallsTo: isPermitted ? [] : [BlueZName.service.text])
        let connection = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let path: ObjectPath = "/org/freedesktop/DBus"
        let outcome: Result<Void, BusError>
        do throws(BusError) {
            outcome = .success(
                _ = try await connection.call(.bus, path, "org.freedesktop.DBus", "ReloadConfig")
            )
        } catch {
            outcome = .failure(error)
        }
        await connection.close()
        try outcome.get()
    }

    /// Plugs an adapter in; one with a name that is taken replaces that one.
    ///
    /// When the same adapter was there before, its centrals find it again.
    ///
    /// - Throws: When the bus is gone.
    public func addAdapter(_ adapter: EmulatedAdapter) async throws {
        await removeAdapter(adapter.name)
        let controller = hardware.withLock { $0.plugIn(adapter, configuration) }
        try await daemon.withLock { $0 }?.add(controller)
    }

    /// Unplugs an adapter: its centrals are disconnected, and nothing is registered there any more.
    ///
    /// Without effect when there is none of that name.
    public func removeAdapter(_ name: String) async {
        hardware.withLock { $0.unplug(name) }
        await daemon.withLock { $0 }?.remove(name)
    }

    /// Switches an adapter on or off, as `bluetoothctl power` does; one that is blocked stays off.
    public func setPowered(_ isOn: Bool, adapter: String = "hci0") async {
        await daemon.withLock { $0 }?.setPowered(adapter, isOn)
    }

    /// Blocks an adapter as `rfkill block` does, or unblocks it, whereupon bluetoothd switches it on.
    public func setBlocked(_ isBlocked: Bool, adapter: String = "hci0") async {
        guard let controller = hardware.withLock({ $0.controller(named: adapter) }) else { return }
        controller.isBlocked = isBlocked
        await daemon.withLock { $0 }?.setPowered(adapter, !isBlocked)
    }
}
