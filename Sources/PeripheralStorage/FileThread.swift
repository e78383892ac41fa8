internal import CPeripheralGLib
internal import Synchronization

/// Runs blocking work in order, on a thread that exists only while there is work.
///
/// File operations can block for seconds on a worn flash card. They must not block the threads of Swift's
/// pool, which has only one thread per processor, or the threads of executors.
final class FileThread: Sendable {
    private struct State {
        var pending: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Runs `body` after all earlier work and returns its result.
    func run<Success: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
            submit {
                continuation.resume(returning: Result(catching: body))
            }
        }
        return try result.get()
    }

    private func submit(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.pending.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { start() }
    }

    private func start() {
        let reference = unsafe Unmanaged.passRetained(self).toOpaque()
        let thread = unsafe g_thread_try_new(
            "peripheral-files",
            { reference in
                if let reference = unsafe reference {
                    unsafe Unmanaged<FileThread>.fromOpaque(reference).takeRetainedValue().drain()
                }
                return nil
            },
            reference,
            nil
        )
        guard let thread = unsafe thread else {
            // The system cannot create another thread. Blocking this thread is better than losing the work.
            unsafe Unmanaged<FileThread>.fromOpaque(reference).release()
            return drain()
        }
        unsafe g_thread_unref(thread)
    }

    private func drain() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.pending.removeFirst()
        }
    }
}
