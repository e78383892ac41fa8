internal import Glibc

/// The service manager that started the program and is notified of the peripheral's state.
///
/// The service manager is systemd, or another one that supports the protocol of `sd_notify(3)`.
///
/// ```swift
/// let backend = BlueZBackend(serviceManager: .fromEnvironment)
/// ```
///
/// The service manager is notified:
///
/// - when the program is ready. The program is ready when the peripheral is on the air for the first time, or
///   waits for something that is missing. Services that start later do not need to wait for the missing part.
/// - of the peripheral's state, in words that `systemctl status` shows.
/// - when the program ends, as soon as it withdraws the peripheral.
/// - that the program is alive, twice in each watchdog interval, if the service manager has a watchdog
///   (`WatchdogSec=`).
///
/// Each sign of life passes through the event loop and one of the threads that run handlers. If a program can
/// no longer answer requests, it sends no signs of life. The service manager then restarts the program.
///
/// In a program with several peripherals, pass the service manager to only one backend.
public struct SystemdNotifier: Hashable, Sendable {
    /// The path of a datagram socket, or a name in the abstract namespace that begins with `@`.
    public var socket: String

    /// The longest time between two signs of life; `nil` without a watchdog.
    ///
    /// If this time passes without a sign of life, the service manager considers the program dead.
    public var watchdogInterval: Duration?

    /// Creates a service manager.
    ///
    /// - Parameters:
    ///   - socket: The address of the service manager's socket, as in `NOTIFY_SOCKET`.
    ///   - watchdogInterval: The longest time between two signs of life; `nil` without a watchdog.
    public init(socket: String, watchdogInterval: Duration? = nil) {
        self.socket = socket
        self.watchdogInterval = watchdogInterval
    }

    /// The service manager that the environment names.
    ///
    /// The value is `nil` if the program was started without a service manager that requests notifications.
    /// `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` have the meaning that `sd_notify(3)` and
    /// `sd_watchdog_enabled(3)` of systemd describe.
    public static var fromEnvironment: SystemdNotifier? {
        SystemdNotifier(process: getpid()) { name in
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
    }

    /// Creates the service manager that an environment names for a process.
    init?(process: Int32, environment: (String) -> String?) {
        guard let socket = environment("NOTIFY_SOCKET"), !socket.isEmpty else { return nil }
        var interval: Duration?
        if let microseconds = environment("WATCHDOG_USEC").flatMap(Int64.init), microseconds > 0,
            environment("WATCHDOG_PID").flatMap(Int32.init).map({ $0 == process }) ?? true
        {
            interval = .microseconds(microseconds)
        }
        self.init(socket: socket, watchdogInterval: interval)
    }
}
