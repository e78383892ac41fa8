package import Logging
public import PeripheralBlueZ
internal import PeripheralDBus
public import PeripheralKit
public import PeripheralTesting
internal import Synchronization

/// Runs an emulated bluetoothd on a private message bus while the body runs.
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
/// Only the radio and bluetoothd are emulated: the peripheral talks to a `dbus-daemon` through libdbus, as on
/// a device. When the call returns, the bus and its process, thread and files are gone, even if the body
/// throws.
///
/// - Parameters:
///   - configuration: The configuration of the emulated bluetoothd.
///   - body: The code that uses it.
/// - Returns: The result of the body.
/// - Throws: ``PrivateBus/StartError`` when `dbus-daemon` is not installed or cannot start;
///   `CancellationError` when the task is cancelled before the body begins; otherwise the error of the body.
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

/// An emulated bluetoothd: `org.bluez` on a private message bus, with adapters that have no radio.
///
/// It imitates recordings of the real daemon: the order of calls, options, errors, handles and advertising
/// bytes. The conformance suite verifies that both behave the same. ``withEmulatedBlueZ(_:_:)`` creates one.
public final class EmulatedBlueZ: Sendable {
    /// The configuration.
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
                // If the task is cancelled before the start is complete, the bus throws its own error.
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

    /// A BlueZ backend on the first adapter that is powered on.
    public var backend: BlueZBackend { backend() }

    /// Creates a BlueZ backend for this adapter with these requirements.
    public func backend(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always
    ) -> BlueZBackend {
        backend(adapter: adapter, settings: settings, recovery: recovery, clock: ContinuousClock())
    }

    /// Creates a BlueZ backend with a logger and a clock for the waits of the backend.
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
            // A virtual central receives each update at once.
            fallbackRate: .unlimited,
            bus: .address(bus.address),
            logger: logger,
            clock: clock,
            kernelLinks: EmulatedKernelLinks { name in self.hardware.withLock { $0.controller(named: name) }
            }
        )
    }

    /// Creates a central near an adapter, not yet connected, with its own address.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral under test; its declaration determines where a `Characteristic` is in
    ///     the database.
    ///   - adapter: The name of the adapter; `nil` for the first. Near an adapter that does not exist,
    ///     nothing is on the air.
    ///   - patience: How long the central waits for an advertisement or an update before it throws.
    ///   - clock: The clock that measures this time.
    /// - Returns: The central. Set its MTU when you connect it.
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
    /// Starts bluetoothd, which already runs when ``withEmulatedBlueZ(_:_:)`` calls its body.
    ///
    /// - Throws: An error when the bus has ended or bluetoothd already runs.
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

    /// Stops bluetoothd like `systemctl stop bluetooth`: it removes its objects from the bus, then its name.
    public func stopDaemon() async {
        await daemon.withLock { $0.take() }?.stop()
    }

    /// Ends bluetoothd immediately, like a crash: only its name disappears.
    public func killDaemon() async {
        await daemon.withLock { $0.take() }?.kill()
    }

    /// Stops bluetoothd and starts it again: all registrations are gone, and handles start over.
    ///
    /// - Throws: An error when the bus has ended.
    public func restartDaemon() async throws {
        await stopDaemon()
        try await startDaemon()
    }

    /// Kills the message bus, like a crash; bluetoothd ends with it.
    public func killBus() async {
        bus.kill()
        await killDaemon()
    }

    /// Starts the message bus again after ``killBus()``, at the same address.
    ///
    /// Call ``startDaemon()`` afterwards to start bluetoothd.
    ///
    /// - Throws: ``PrivateBus/StartError`` when `dbus-daemon` cannot start.
    public func startBus() async throws {
        try await bus.restart()
    }

    /// Sets whether the policy of the bus permits programs to call bluetoothd, which is the default.
    ///
    /// - Throws: An error when the bus has ended.
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

    /// Plugs an adapter in, and replaces any adapter with the same name.
    ///
    /// If the same adapter was plugged in before, its centrals find it again.
    ///
    /// - Throws: An error when the bus has ended.
    public func addAdapter(_ adapter: EmulatedAdapter) async throws {
        await removeAdapter(adapter.name)
        let controller = hardware.withLock { $0.plugIn(adapter, configuration) }
        try await daemon.withLock { $0 }?.add(controller)
    }

    /// Unplugs an adapter: its centrals are disconnected and its registrations are removed.
    ///
    /// It has no effect when there is no adapter with that name.
    public func removeAdapter(_ name: String) async {
        hardware.withLock { $0.unplug(name) }
        await daemon.withLock { $0 }?.remove(name)
    }

    /// Powers an adapter on or off, like `bluetoothctl power`; a blocked adapter stays off.
    public func setPowered(_ isOn: Bool, adapter: String = "hci0") async {
        await daemon.withLock { $0 }?.setPowered(adapter, isOn)
    }

    /// Blocks an adapter like `rfkill block`, or unblocks it; bluetoothd then powers it on.
    public func setBlocked(_ isBlocked: Bool, adapter: String = "hci0") async {
        guard let controller = hardware.withLock({ $0.controller(named: adapter) }) else { return }
        controller.isBlocked = isBlocked
        await daemon.withLock { $0 }?.setPowered(adapter, !isBlocked)
    }
}
