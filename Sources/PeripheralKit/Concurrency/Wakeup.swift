private import Synchronization

/// Wakes one waiting task, even if the wakeup precedes the wait.
package final class Wakeup: Sendable {
    private struct State {
        var isDue = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Wakes the waiting task, or the next task that waits.
    package func wake() {
        let waiting = state.withLock { state in
            state.isDue = state.waiting == nil
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits for a wakeup.
    package func wait() async {
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

    /// Waits for a wakeup, or until the calling task is cancelled.
    package func waitUnlessCancelled() async {
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            wake()
        }
    }

    /// The longest time that a clock can measure safely: a clock traps near the maximum of a duration.
    private static let longestTime = Duration.seconds(86_400)

    /// Waits for a wakeup, up to a maximum time, and at most a day.
    func wait(atMost time: Duration, by stopwatch: Stopwatch) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                // A cancelled sleep causes no wakeup.
                guard (try? await stopwatch.sleep(min(time, Self.longestTime))) != nil else { return }
                self.wake()
            }
            await wait()
            group.cancelAll()
        }
    }
}
