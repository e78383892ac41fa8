private import Synchronization

/// Wakes up one task that waits, also when the reason came before the wait.
final class Wakeup: Sendable {
    private struct State {
        var isDue = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Wakes up who waits, or else who waits next.
    func wake() {
        let waiting = state.withLock { state in
            state.isDue = state.waiting == nil
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits to be woken up.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                guard !state.isDue else {
                    state.isDue = false
                    return true
                }
                state.waiting = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    /// Waits to be woken up, for so long at most.
    func wait(atMost time: Duration, by stopwatch: Stopwatch) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                // Nobody is woken up by a time that was called off.
                guard (try? await stopwatch.sleep(time)) != nil else { return }
                self.wake()
            }
            await wait()
            group.cancelAll()
        }
    }
}
