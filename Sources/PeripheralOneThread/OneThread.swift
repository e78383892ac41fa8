private import CPeripheralGLib
private import Glibc
private import PeripheralDBus

/// Methods that run a program on a single thread.
///
/// On small devices, a single thread saves memory and power.
///
/// The calling thread runs all tasks of the program and all work of a `BlueZBackend`.
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
/// The program does not use Swift's thread pool. Without the thread pool, the program needs no memory for the
/// call stacks of pool threads. The program also avoids the timer of the thread pool, which wakes the machine
/// once a second. All work of the program runs on the same thread. Therefore the program does not spend time
/// on waking other threads. While the program has no work, the thread sleeps.
///
/// To use `OneThread`, build the program with Swift 6.3 or later. With Swift 6.2, a program cannot choose the
/// thread of its tasks. With Swift 6.2, only the backend and the main actor run on the thread of `OneThread`,
/// and all other tasks run in Swift's thread pool. With Swift 6.2, the thread pool needs memory for call
/// stacks and runs a timer.
///
/// A long computation, or a blocking call without `await`, delays all other work on the thread. Libraries
/// such as Foundation and Dispatch create additional threads.
public enum OneThread: Sendable {
    /// Runs all tasks of the process on the calling thread.
    ///
    /// The process ends when `program` returns.
    ///
    /// Call `run` once, at the beginning of a synchronous `main` function. Tasks that exist before the call
    /// remain on their threads. A second call to `run` stops the program with a runtime error.
    ///
    /// 10 seconds after the call to `run`, the process releases memory pages that it needs only during
    /// startup. Each released page contains unmodified data from the program file or from a library file. If
    /// the process needs a released page again, the kernel reads the page from the file.
    ///
    /// - Parameter program: The asynchronous main function of the program, which returns the exit status of
    ///   the process.
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

    /// Returns a stream of signals, and disables their default actions.
    ///
    /// An example of a signal is `SIGTERM`.
    ///
    /// To shut a peripheral down gracefully, cancel the peripheral's task when a signal arrives:
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
    /// Call `arrivals(of:)` within ``run(_:)``. A call of `arrivals(of:)` outside ``run(_:)`` stops the
    /// program with a runtime error. Do not pass the same signal to two calls of `arrivals(of:)`. The child
    /// processes of the program inherit the signal mask, and therefore block the same signals.
    ///
    /// - Parameter signals: The numbers of the signals to receive, such as `SIGTERM`.
    /// - Returns: A stream of received signals, represented by their signal numbers. If several signals
    ///   arrive before the program reads the stream, the stream delivers only the newest signal. The stream
    ///   ends when the program stops reading the stream.
    /// - Throws: ``SignalsError`` when no file descriptor is available. If the method throws a
    ///   ``SignalsError``, the handling of the signals does not change.
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
