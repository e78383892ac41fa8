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
/// Only the radio and bluetoothd are emulated. The peripheral communicates with a real `dbus-daemon` through
/// libdbus.
///
/// Before the function returns or throws an error, it stops the bus and deletes the files of the bus.
///
/// - Parameters:
///   - configuration: The configuration of the emulated bluetoothd.
///   - body: The code that uses the emulated bluetoothd.
/// - Returns: The result of the body.
/// - Throws: ``PrivateBus/StartError`` if `dbus-daemon` is not installed or cannot start. `BlueZVersionError`
///   if the version of the configuration cannot be imitated. `CancellationError` if the task is cancelled
///   before the body begins. The function rethrows any error that the body throws.
@discardableResult
public func withEmulatedBlueZ<Output>(
    _ configuration: EmulatedBlueZ.Configuration = EmulatedBlueZ.Configuration(),
    _ body: (_ bluez: EmulatedBlueZ) async throws -> Output
) async throws -> Output {
    if let error = BlueZVersionError(imitating: configuration.version) { throw error }
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
/// The emulated bluetoothd owns the bus name `org.bluez`. The emulated adapters have no radio. The emulated
/// bluetoothd reproduces the recorded behavior of the real bluetoothd, including the order of calls, the
/// options, the errors, the handles and the advertising bytes. The conformance suite verifies that the
/// emulated bluetoothd behaves like the real bluetoothd. ``withEmulatedBlueZ(_:_:)`` creates the emulated
/// bluetoothd.
public final class EmulatedBlueZ: Sendable {
    /// The configuration.
    public let configuration: Configuration

    /// The store of the peripherals that run on this emulated bluetoothd without a store of their own.
    ///
    /// The store is in memory, so an emulated run does not use the state directory of the user. The store
    /// exists as long as the emulated bluetoothd, also when ``restartDaemon()`` restarts it. A program that
    /// passes another store to `run` uses that store.
    public let restorationStore = InMemoryRestorationStore()

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
    /// The D-Bus address of the private message bus.
    ///
    /// Other programs can use the address. For example, run `busctl --address=… tree org.bluez`.
    ///
    /// A peripheral in another process, which uses the address as `DBUS_SYSTEM_BUS_ADDRESS`, does not use
    /// ``restorationStore``. Set `STATE_DIRECTORY` for that process, so that it does not use the state
    /// directory of the user.
    public var busAddress: String { bus.address }

    /// A BlueZ backend on the first adapter that is powered on.
    public var backend: BlueZBackend { backend() }

    /// Creates a BlueZ backend that uses the emulated bluetoothd.
    ///
    /// - Parameters:
    ///   - adapter: The adapter to use.
    ///   - settings: The adapter settings that the peripheral requires.
    ///   - recovery: Whether `Peripheral.run` waits or ends when the Bluetooth stack is unavailable.
    /// - Returns: The backend.
    public func backend(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always
    ) -> BlueZBackend {
        backend(adapter: adapter, settings: settings, recovery: recovery, clock: ContinuousClock())
    }

    /// Creates a BlueZ backend with a clock for the waits of the backend.
    package func backend(
        adapter: AdapterSelection = .firstPowered,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        clock: any Clock<Duration>
    ) -> BlueZBackend {
        BlueZBackend(
            adapter: adapter,
            settings: settings,
            recovery: recovery,
            // A virtual central receives each update immediately.
            fallbackRate: .unlimited,
            bus: .address(bus.address),
            clock: clock,
            kernelLinks: EmulatedKernelLinks(
                controller: { name in self.hardware.withLock { $0.controller(named: name) } },
                loop: loop
            ),
            files: configuration.files,
            restorationStore: restorationStore
        )
    }

    /// Creates a central within range of an adapter.
    ///
    /// Each new central has a different address. The new central is not connected.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral under test. The declaration of the peripheral determines the position
    ///     of each `Characteristic` in the database.
    ///   - adapter: The name of the adapter. With `nil`, the central is within range of the first adapter. If
    ///     no adapter has the given name, the central receives no advertisements, and the error of a
    ///     connection names the adapters.
    ///   - patience: The longest time that the central waits for an advertisement or an update. If no
    ///     advertisement or update arrives in time, the central throws an error.
    ///   - clock: The clock that measures the time limit `patience`.
    /// - Returns: The central. Specify the MTU when you connect the central.
    public func central(
        for peripheral: Peripheral,
        near adapter: String? = nil,
        patience: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> VirtualCentral {
        let server = hardware.withLock { hardware in
            hardware.controller(named: adapter)?.server
                ?? VirtualGATTServer(deviceName: "", absence: hardware.absence(of: adapter))
        }
        return VirtualCentral(of: peripheral, on: server, patience: patience, clock: clock)
    }
}

// MARK: - Starting and stopping bluetoothd

extension EmulatedBlueZ {
    /// Starts bluetoothd again after a stop or a crash.
    ///
    /// bluetoothd is already running when ``withEmulatedBlueZ(_:_:)`` calls its body.
    ///
    /// - Throws: An error if the bus has stopped or if bluetoothd is already running.
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

    /// Stops bluetoothd, as `systemctl stop bluetooth` does.
    ///
    /// bluetoothd removes its objects from the bus, and then releases its bus name.
    public func stopDaemon() async {
        await daemon.withLock { $0.take() }?.stop()
    }

    /// Ends bluetoothd immediately, to simulate a crash.
    ///
    /// bluetoothd loses its bus name at once, and does not remove its objects from the bus.
    public func killDaemon() async {
        await daemon.withLock { $0.take() }?.kill()
    }

    /// Stops bluetoothd and then starts it again.
    ///
    /// All registrations end. After the restart, bluetoothd assigns attribute handles starting with the
    /// lowest handle.
    ///
    /// - Throws: An error if the bus has stopped.
    public func restartDaemon() async throws {
        await stopDaemon()
        try await startDaemon()
    }

    /// Kills the message bus daemon, to simulate a crash.
    ///
    /// When the message bus daemon exits, bluetoothd exits.
    public func killBus() async {
        bus.kill()
        await killDaemon()
    }

    /// Starts the message bus again after ``killBus()``, at the same address.
    ///
    /// To start bluetoothd, call ``startDaemon()`` after ``startBus()``.
    ///
    /// - Throws: ``PrivateBus/StartError`` if `dbus-daemon` cannot start.
    public func startBus() async throws {
        try await bus.restart()
    }

    /// Sets whether the policy of the bus permits programs to call bluetoothd.
    ///
    /// By default, the policy permits programs to call bluetoothd.
    ///
    /// - Throws: An error if the bus has stopped.
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

    /// Plugs in an adapter.
    ///
    /// If an adapter with the same name exists, the new adapter replaces the existing adapter.
    ///
    /// After an adapter is unplugged and plugged in again, the centrals near the adapter receive its
    /// advertisements again.
    ///
    /// - Throws: An error if the bus has stopped.
    public func addAdapter(_ adapter: EmulatedAdapter) async throws {
        await removeAdapter(adapter.name)
        let controller = hardware.withLock { $0.plugIn(adapter, configuration) }
        try await daemon.withLock { $0 }?.add(controller)
    }

    /// Unplugs an adapter.
    ///
    /// The method disconnects the centrals of the adapter, and removes the registrations of the adapter. The
    /// method has no effect if no adapter has the given name.
    public func removeAdapter(_ name: String) async {
        hardware.withLock { $0.unplug(name) }
        await daemon.withLock { $0 }?.remove(name)
    }

    /// Powers an adapter on or off, like `bluetoothctl power`.
    ///
    /// An adapter stays off if ``setBlocked(_:adapter:)`` has blocked the adapter.
    public func setPowered(_ isOn: Bool, adapter: String = "hci0") async {
        await daemon.withLock { $0 }?.setPowered(adapter, isOn)
    }

    /// Blocks or unblocks an adapter, like `rfkill block` or `rfkill unblock`.
    ///
    /// When an adapter is unblocked, bluetoothd powers on the adapter.
    public func setBlocked(_ isBlocked: Bool, adapter: String = "hci0") async {
        guard let controller = hardware.withLock({ $0.controller(named: adapter) }) else { return }
        controller.isBlocked = isBlocked
        await daemon.withLock { $0 }?.setPowered(adapter, !isBlocked)
    }
}
