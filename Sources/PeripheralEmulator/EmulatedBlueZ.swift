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
/// Only the radio and bluetoothd are emulated. The peripheral communicates with a `dbus-daemon` through
/// libdbus, like on a device. When the call returns, the process, the thread and the files of the bus no
/// longer exist, even if the body throws an error.
///
/// - Parameters:
///   - configuration: The configuration of the emulated bluetoothd.
///   - body: The code that uses the emulated bluetoothd.
/// - Returns: The result of the body.
/// - Throws: ``PrivateBus/StartError`` if `dbus-daemon` is not installed or cannot start. `CancellationError`
///   if the task is cancelled before the body begins. Otherwise the error of the body.
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

/// An emulated bluetoothd on a private message bus.
///
/// The emulated bluetoothd owns `org.bluez` and has adapters without a radio. It imitates recordings of the
/// real daemon: the order of calls, options, errors, handles and advertising bytes. The conformance suite
/// verifies that the real and the emulated daemon behave the same. ``withEmulatedBlueZ(_:_:)`` creates the
/// emulated bluetoothd.
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
    /// The address of the bus in D-Bus notation.
    ///
    /// Other programs can use the address, as in `busctl --address=… tree org.bluez`.
    public var busAddress: String { bus.address }

    /// A BlueZ backend on the first adapter that is powered on.
    public var backend: BlueZBackend { backend() }

    /// Creates a BlueZ backend for the given adapter with the given requirements.
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
            // A virtual central receives each update immediately.
            fallbackRate: .unlimited,
            bus: .address(bus.address),
            logger: logger,
            clock: clock,
            kernelLinks: EmulatedKernelLinks { name in self.hardware.withLock { $0.controller(named: name) }
            }
        )
    }

    /// Creates a central near an adapter.
    ///
    /// The central has a separate address and is not yet connected.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral under test. Its declaration determines the place of each
    ///     `Characteristic` in the database.
    ///   - adapter: The name of the adapter; `nil` for the first adapter. A central near an adapter that does
    ///     not exist receives no advertisements.
    ///   - patience: The longest time that the central waits for an advertisement or an update. After this
    ///     time, the central throws an error.
    ///   - clock: The clock that measures this time.
    /// - Returns: The central. Set the MTU of the central when you connect it.
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

// MARK: - Starting and stopping bluetoothd

extension EmulatedBlueZ {
    /// Starts bluetoothd again after a stop or a crash.
    ///
    /// bluetoothd already runs when ``withEmulatedBlueZ(_:_:)`` calls its body.
    ///
    /// - Throws: An error if the bus has ended or bluetoothd already runs.
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

    /// Stops bluetoothd like `systemctl stop bluetooth`.
    ///
    /// bluetoothd removes its objects from the bus, and then its name.
    public func stopDaemon() async {
        await daemon.withLock { $0.take() }?.stop()
    }

    /// Ends bluetoothd immediately, like a crash.
    ///
    /// Only the name of bluetoothd disappears from the bus.
    public func killDaemon() async {
        await daemon.withLock { $0.take() }?.kill()
    }

    /// Stops bluetoothd and starts bluetoothd again.
    ///
    /// All registrations end, and the assignment of handles starts from the beginning.
    ///
    /// - Throws: An error if the bus has ended.
    public func restartDaemon() async throws {
        await stopDaemon()
        try await startDaemon()
    }

    /// Kills the message bus, like a crash.
    ///
    /// bluetoothd ends with the message bus.
    public func killBus() async {
        bus.kill()
        await killDaemon()
    }

    /// Starts the message bus again after ``killBus()``, at the same address.
    ///
    /// Call ``startDaemon()`` afterwards to start bluetoothd.
    ///
    /// - Throws: ``PrivateBus/StartError`` if `dbus-daemon` cannot start.
    public func startBus() async throws {
        try await bus.restart()
    }

    /// Sets whether the policy of the bus permits programs to call bluetoothd.
    ///
    /// By default, the policy permits these calls.
    ///
    /// - Throws: An error if the bus has ended.
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
    /// If the same adapter was plugged in before, the centrals of this adapter receive its advertisements
    /// again.
    ///
    /// - Throws: An error if the bus has ended.
    public func addAdapter(_ adapter: EmulatedAdapter) async throws {
        await removeAdapter(adapter.name)
        let controller = hardware.withLock { $0.plugIn(adapter, configuration) }
        try await daemon.withLock { $0 }?.add(controller)
    }

    /// Unplugs an adapter.
    ///
    /// The centrals of the adapter are disconnected, and its registrations are removed. The call has no
    /// effect if there is no adapter with that name.
    public func removeAdapter(_ name: String) async {
        hardware.withLock { $0.unplug(name) }
        await daemon.withLock { $0 }?.remove(name)
    }

    /// Powers an adapter on or off, like `bluetoothctl power`.
    ///
    /// A blocked adapter stays off.
    public func setPowered(_ isOn: Bool, adapter: String = "hci0") async {
        await daemon.withLock { $0 }?.setPowered(adapter, isOn)
    }

    /// Blocks an adapter like `rfkill block`, or unblocks it.
    ///
    /// bluetoothd powers on an unblocked adapter.
    public func setBlocked(_ isBlocked: Bool, adapter: String = "hci0") async {
        guard let controller = hardware.withLock({ $0.controller(named: adapter) }) else { return }
        controller.isBlocked = isBlocked
        await daemon.withLock { $0 }?.setPowered(adapter, !isBlocked)
    }
}
