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
    /// ```swift
    /// OneThread.run {
    ///     do {
    ///         for await _ in try OneThread.arrivals(of: [SIGHUP]) { await lamp.reload() }
    ///     } catch {
    ///         print(error)
    ///     }
    ///     return 1
    /// }
    /// ```
    ///
    /// To shut a peripheral down gracefully on a signal, use `Peripheral.run(on:stoppingOn:)` of the module
    /// `PeripheralBlueZ` instead.
    ///
    /// Call `arrivals(of:)` within ``run(_:)``. A call of `arrivals(of:)` outside ``run(_:)`` stops the
    /// program with a runtime error. If several streams contain the same signal, each stream receives it.
    ///
    /// - Parameter signals: The numbers of the signals to receive, such as `SIGTERM`.
    /// - Returns: A stream of received signals, represented by their signal numbers. If several signals
    ///   arrive before the program reads the stream, the stream delivers only the newest signal. The stream
    ///   ends when the program stops reading the stream. Then each signal has the same effect as before,
    ///   unless another stream contains it.
    /// - Throws: ``SignalsError`` when no file descriptor is available, or when the system does not allow
    ///   programs to handle a signal, such as `SIGKILL`. If the method throws a ``SignalsError``, the
    ///   handling of the signals does not change.
    public static func arrivals(of signals: [CInt]) throws(SignalsError) -> AsyncStream<CInt> {
        guard let loop = EventLoop.ofProcess else { preconditionFailure("call this within OneThread.run") }
        do throws(ProcessSignalsUnavailable) {
            return try ProcessSignalReceiver.receive(
                signals,
                on: loop,
                bufferingPolicy: .bufferingNewest(1),
                endsWithStream: true
            ).arrivals
        } catch {
            throw SignalsError(number: error.number)
        }
    }
}
