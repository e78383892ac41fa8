private import CPeripheralGLib
private import Glibc
private import PeripheralDBus

/// Runs a whole program on one thread, for small devices.
///
/// The thread runs all tasks of the program and all work of a `BlueZBackend`.
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
/// The program does not use Swift's thread pool. The program thus needs no memory for the stacks of the pool.
/// The clock of the pool, which would wake the machine once a second, does not run. No operation of the
/// program has to wake another thread. While there is no work, the thread sleeps.
///
/// Build a program that uses `OneThread` with Swift 6.3 or later. Swift 6.2 does not let a program choose
/// where its tasks run. With Swift 6.2, the thread runs only the backend and the main actor. Other tasks run
/// in Swift's thread pool, which uses its stacks and its clock.
///
/// A long computation or a blocking wait without `await` delays all other work. Libraries such as Foundation
/// and Dispatch still create their own threads.
public enum OneThread: Sendable {
    /// Runs all tasks of the process on the calling thread and exits when `program` returns.
    ///
    /// Call this method once, at the beginning of a `main` that is not `async`. Tasks that already exist stay
    /// on their threads. A second call stops the program.
    ///
    /// After 10 seconds, the process returns memory that only its start needed. This memory consists of
    /// unmodified pages of the program and its libraries. The kernel can read these pages from their files
    /// again.
    ///
    /// - Parameter program: The program, which returns the exit status of the process.
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

    /// Returns the signals that arrive, such as `SIGTERM`, and disables their default effects.
    ///
    /// A peripheral shuts down gracefully when its task is cancelled:
    ///
    /// ```swift
    /// OneThread.run {
    ///     let service = Task { try await lamp.peripheral.run(on: .bluez) }
    ///     do {
    ///         let signals = try OneThread.arrivals(of: [SIGTERM, SIGINT])
    ///         Task { for await _ in signals { service.cancel() } }
    ///         try await service.value
    ///     } catch is CancellationError {
    ///         // A signal has cancelled the task.
    ///     } catch {
    ///         print(error)
    ///         return 1
    ///     }
    ///     return 0
    /// }
    /// ```
    ///
    /// Call this method within ``run(_:)``, once for each signal. A call outside ``run(_:)`` stops the
    /// program. These signals are also blocked in processes that the program starts.
    ///
    /// - Parameter signals: The numbers of the signals.
    /// - Returns: A stream of the numbers of the signals that arrive. If several signals wait, the stream
    ///   delivers only the newest signal. The stream ends when the program no longer reads it.
    /// - Throws: ``SignalsError`` when no file descriptor is available. In this case, the signals keep their
    ///   previous effects.
    public static func arrivals(of signals: [CInt]) throws(SignalsError) -> AsyncStream<CInt> {
        guard let loop = EventLoop.ofProcess else { preconditionFailure("call this within OneThread.run") }
        let descriptor = try openDescriptor(of: signals)
        block(signals)
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            loop.execute {
                // Before Swift 6.3, the caller runs on another thread. The threads of Swift's pool have all
                // signals blocked.
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

    /// Returns a descriptor that is readable when a blocked signal has arrived.
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
