internal import Glibc

/// The service manager that receives the state of the peripheral from the backend.
///
/// The service manager is the process that started the program. You can use systemd, or any other service
/// manager that supports the protocol of `sd_notify(3)`.
///
/// ```swift
/// let backend = BlueZBackend(serviceManager: .fromEnvironment)
/// ```
///
/// The backend notifies the service manager of these facts:
///
/// - The program is ready. When the peripheral is published for the first time, the backend reports that the
///   program is ready. If bluetoothd or the adapter is missing, the backend reports the readiness of the
///   program without waiting for the publication. Therefore a missing adapter or a missing bluetoothd does
///   not delay the services that depend on the program.
/// - The state of the peripheral has changed. `systemctl status` shows a description of the peripheral's
///   state.
/// - The program is ending. When the backend begins to withdraw the peripheral, the backend reports that the
///   program is ending.
/// - The program is running. If the service manager uses a watchdog (`WatchdogSec=`), the backend sends two
///   watchdog notifications in each watchdog interval.
///
/// Each watchdog notification passes through the event loop and through one of the threads that run handlers.
/// If the program cannot answer requests, the backend sends no watchdog notifications. The service manager
/// then restarts the program.
///
/// In a program with several peripherals, pass the service manager to only one backend.
public struct SystemdNotifier: Hashable, Sendable {
    /// The address of a Unix datagram socket.
    ///
    /// The address is a path or an abstract socket name. An abstract socket name begins with `@`.
    public var socket: String

    /// The longest time between two watchdog notifications, or `nil` if there is no watchdog.
    ///
    /// If the interval passes without a watchdog notification, the service manager assumes that the program
    /// has failed.
    public var watchdogInterval: Duration?

    /// Creates a service manager from the address of its socket.
    ///
    /// - Parameters:
    ///   - socket: The address of the service manager's socket, in the format of `NOTIFY_SOCKET`.
    ///   - watchdogInterval: The longest time between two watchdog notifications, or `nil` if there is no
    ///     watchdog.
    public init(socket: String, watchdogInterval: Duration? = nil) {
        self.socket = socket
        self.watchdogInterval = watchdogInterval
    }

    /// The service manager that the program's environment variables specify.
    ///
    /// The value is `nil` if the environment variable `NOTIFY_SOCKET` is empty or not set. The manual pages
    /// `sd_notify(3)` and `sd_watchdog_enabled(3)` of systemd describe the variables `NOTIFY_SOCKET`,
    /// `WATCHDOG_USEC` and `WATCHDOG_PID`.
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
