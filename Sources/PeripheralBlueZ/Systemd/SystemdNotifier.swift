internal import Glibc

/// The service manager that started the program and is notified of the peripheral's state.
///
/// This is systemd, or any other service manager that supports the protocol of `sd_notify(3)`.
///
/// ```swift
/// let backend = BlueZBackend(serviceManager: .fromEnvironment)
/// ```
///
/// The service manager is notified:
///
/// - when the program is ready. This is when the peripheral is on the air for the first time, or waits for
///   something that is missing. Services that start later do not need to wait for it as well.
/// - of what the peripheral does or waits for, in words that `systemctl status` shows.
/// - when the program ends, as soon as it withdraws the peripheral.
/// - that the program is alive, if it has a watchdog (`WatchdogSec=`): twice in each watchdog interval.
///
/// Each sign of life passes through the event loop and one of the threads that run handlers. A program that
/// can no longer answer requests sends none, and the service manager restarts it.
///
/// In a program with several peripherals, give the service manager to only one backend.
public struct SystemdNotifier: Hashable, Sendable {
    /// The path of a datagram socket, or a name in the abstract namespace that begins with `@`.
    public var socket: String

    /// The longest time between two signs of life; `nil` without a watchdog.
    ///
    /// If it passes without a sign of life, the service manager considers the program dead.
    public var watchdogInterval: Duration?

    /// Creates a service manager.
    ///
    /// - Parameters:
    ///   - socket: The address of its socket, as in `NOTIFY_SOCKET`.
    ///   - watchdogInterval: The longest time between two signs of life; `nil` without a watchdog.
    public init(socket: String, watchdogInterval: Duration? = nil) {
        self.socket = socket
        self.watchdogInterval = watchdogInterval
    }

    /// The service manager that the environment names.
    ///
    /// It is `nil` if no service manager that wants notifications started the program. `NOTIFY_SOCKET`,
    /// `WATCHDOG_USEC` and `WATCHDOG_PID` have the meaning that `sd_notify(3)` and `sd_watchdog_enabled(3)`
    /// of systemd describe.
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
