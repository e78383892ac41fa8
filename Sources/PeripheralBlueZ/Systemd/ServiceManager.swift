internal import Glibc

/// The service manager that has started the program, which is told how the peripheral does: systemd, or any other that
/// speaks the protocol of `sd_notify(3)`.
///
/// ```swift
/// let backend = BlueZBackend(serviceManager: .fromEnvironment)
/// ```
///
/// It hears
/// - that the program is ready: when the peripheral is on the air for the first time, or waits for what is missing,
///   which no other service has to wait for as well;
/// - in words, what the peripheral does or waits for, which `systemctl status` shows;
/// - that the program ends, when it withdraws the peripheral;
/// - where it keeps a watchdog (`WatchdogSec=`), that the program lives, twice in the time that it allows. Each sign of life
///   has passed through the event loop and one of the threads on which handlers run: a program that can answer no request
///   any more gives none, and is started anew.
///
/// For a program with several peripherals, one backend tells.
public struct ServiceManager: Hashable, Sendable {
    /// Where it listens: the path of a datagram socket, or with `@` in front, a name in the abstract namespace.
    public var socket: String

    /// How long it waits for a sign of life before it takes the program for dead; `nil` when it does not wait for any.
    public var watchdogInterval: Duration?

    /// Names a service manager.
    ///
    /// - Parameters:
    ///   - socket: Where it listens, as in `NOTIFY_SOCKET`.
    ///   - watchdogInterval: How long it waits for a sign of life, or `nil`.
    public init(socket: String, watchdogInterval: Duration? = nil) {
        self.socket = socket
        self.watchdogInterval = watchdogInterval
    }

    /// The service manager that the environment names; `nil` when the program was not started by one that wants to be told.
    ///
    /// `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are as `sd_notify(3)` and `sd_watchdog_enabled(3)` of systemd
    /// describe them.
    public static var fromEnvironment: ServiceManager? {
        ServiceManager(process: getpid()) { name in
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
    }

    /// What an environment says to a process.
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
