internal import CPeripheralGLib
internal import Synchronization

/// Runs what blocks, one after the other, on a thread that is there only while there is something to run.
///
/// Files may block for seconds on a worn flash card; Swift's own threads are as few as the processors, and those of
/// executors have something else to do.
final class FileThread: Sendable {
    private struct State {
        var pending: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Runs `body` after what was given before, and returns what it returns.
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
            // The system has no thread left. To hold up this one is better than to lose what is to be saved.
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
