private import CPeripheralGLib
private import Glibc
private import PeripheralDBus

/// A program on one thread, for small devices: all of its tasks, and all that a `BlueZBackend` does.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralOneThread
///
/// @main
/// struct Firmware {
///     static func main() {
///         OneThread.run {
///             do {
///                 try await lamp.peripheral.run(on: .bluez)
///             } catch {
///                 print(error)
///                 return 1
///             }
///             return 0
///         }
///     }
/// }
/// ```
///
/// Swift's own pool of threads is not used, so there are neither its stacks nor its clock, which wakes the machine once a
/// second; and nothing that a program does has to wake another thread. While there is nothing to do, the thread sleeps.
///
/// Build such a program with Swift 6.3 or later. Swift 6.2 does not let a program say where its tasks run: with it, the
/// thread is that of the backend and of the main actor only, and other tasks are on Swift's threads, with all that is said of
/// them above.
///
/// What takes long, or waits by other means than `await`, holds up everything else. What starts threads of its own, such as
/// Foundation or Dispatch, still does so.
public enum OneThread: Sendable {
    /// Runs all tasks of the process on the calling thread, from now on, and ends the process when `program` is done.
    ///
    /// 10 seconds later, the memory is given back that has what only the start needed: pages of the program and its libraries, as
    /// their files have them.
    ///
    /// Call it once, which is checked, at the beginning of a `main` that is not `async`: tasks that exist already stay where they
    /// are.
    ///
    /// - Parameter program: The program; what it returns is the status with which the process exits.
    public static func run(_ program: @escaping @Sendable () async -> CInt) -> Never {
        EventLoop.runProcess {
            let start = Task.detached {
                try await Task.sleep(for: .seconds(10))
                StartPages.giveBack()
            }
            defer { start.cancel() }
            return await program()
        }
    }

    /// The arrivals of signals such as `SIGTERM`, which no longer do what they do by themselves.
    ///
    /// A peripheral ends in order when its task is cancelled:
    ///
    /// ```swift
    /// OneThread.run {
    ///     let service = Task { try await lamp.peripheral.run(on: .bluez) }
    ///     do {
    ///         let signals = try OneThread.arrivals(of: [SIGTERM, SIGINT])
    ///         Task { for await _ in signals { service.cancel() } }
    ///         try await service.value
    ///     } catch is CancellationError {
    ///         // It was told to end.
    ///     } catch {
    ///         print(error)
    ///         return 1
    ///     }
    ///     return 0
    /// }
    /// ```
    ///
    /// Call it within ``run(_:)``, which is checked, and once for each signal. Processes that the program starts begin with these
    /// signals blocked.
    ///
    /// - Parameter signals: The numbers of the signals.
    /// - Returns: The numbers of those that arrive; of several that wait, the newest. It ends when nobody reads it any more.
    /// - Throws: When there is no file descriptor left, of which it takes one; then signals do what they did before.
    public static func arrivals(of signals: [CInt]) throws(SignalsError) -> AsyncStream<CInt> {
        guard let loop = EventLoop.ofProcess else { preconditionFailure("OneThread.run has to come before") }
        let descriptor = try openDescriptor(of: signals)
        block(signals)
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            loop.execute {
                // Before Swift 6.3, the caller has another thread. Swift's own have all signals blocked.
                block(signals)
                let watch = loop.watch(fileDescriptor: descriptor, events: .readable) { _ in
                    while let signal = readSignal(from: descriptor) { continuation.yield(signal) }
                }
                continuation.onTermination = { _ in
                    loop.execute {
                        watch.cancel()
                        close(descriptor)
                    }
                }
            }
        }
    }

    /// A descriptor that can be read when a signal has arrived that is blocked.
    private static func openDescriptor(of signals: [CInt]) throws(SignalsError) -> CInt {
        var set = signalSet(signals)
        let descriptor = unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC))
        if descriptor < 0 { throw SignalsError(number: errno) }
        return descriptor
    }

    private static func block(_ signals: [CInt]) {
        var set = signalSet(signals)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    private static func signalSet(_ signals: [CInt]) -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        return set
    }

    private static func readSignal(from descriptor: CInt) -> CInt? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return unsafe read(descriptor, &information, size) == size ? CInt(information.ssi_signo) : nil
    }
}
