internal import Logging
internal import PeripheralDBus
internal import PeripheralKit

/// Notifies a service manager of the state of a run.
///
/// `@unchecked Sendable`: the state is used only on the loop's thread. Methods that are called on other
/// threads switch to the loop's thread.
final class ServiceReporter: @unchecked Sendable {
    private let loop: EventLoop
    private let manager: SystemdNotifier
    private let logger: Logger
    private var report = ServiceReport()
    private var socket: DatagramSocket?
    /// The messages that the socket had no room for.
    private var unsent: [String] = []
    private var timers: [LoopSource] = []

    init(to manager: SystemdNotifier, on loop: EventLoop, logger: Logger) {
        self.loop = loop
        self.manager = manager
        self.logger = logger
    }

    /// Begins to send signs of life if the service manager has a watchdog.
    func start() {
        loop.execute { [self] in
            socket = DatagramSocket(to: manager.socket)
            guard socket != nil else {
                logger.warning(
                    "The backend cannot reach the socket of the service manager. Check the address of the socket.",
                    metadata: ["peripheral.notify-socket": "\(manager.socket)"]
                )
                return
            }
            scheduleSignOfLife()
        }
    }

    func note(_ state: PeripheralState) {
        loop.execute { [self] in
            if let message = report.note(state) { send(message) }
        }
    }

    func noteStop() {
        loop.execute { [self] in
            if let message = report.stop() { send(message) }
        }
    }

    /// Ends the signs of life.
    func close() async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                for timer in timers { timer.cancel() }
                timers = []
                socket = nil
                continuation.resume()
            }
        }
    }

    private func scheduleSignOfLife() {
        guard let interval = manager.watchdogInterval else { return }
        schedule(after: interval / 2) { [self] in
            scheduleSignOfLife()
            // Passes through the threads that run handlers.
            Task { [self] in loop.execute { [self] in send(ServiceReport.signOfLife) } }
        }
    }

    private func send(_ message: String) {
        unsent.append(message)
        flush()
    }

    private func flush() {
        guard let socket else { return unsent = [] }
        while let message = unsent.first {
            guard socket.send(message) else {
                // Old signs of life are useless.
                unsent.removeAll { $0 == ServiceReport.signOfLife }
                return schedule(after: .milliseconds(100)) { [self] in flush() }
            }
            unsent.removeFirst()
        }
    }

    private func schedule(after delay: Duration, _ body: @escaping () -> Void) {
        var timer: LoopSource?
        timer = loop.schedule(after: delay) { [self] in
            timers.removeAll { $0 === timer }
            body()
        }
        if let timer { timers.append(timer) }
    }
}
