/// Watches for the next of several deadlines.
struct Deadlines: Sendable {
    private let stopwatch: Stopwatch
    private let wakeup = Wakeup()

    init(by stopwatch: Stopwatch) {
        self.stopwatch = stopwatch
    }

    /// Looks for the next deadline again.
    ///
    /// A call is necessary when a deadline is set that is earlier than the deadlines before.
    func wake() {
        wakeup.wake()
    }

    /// Watches until the calling task is cancelled.
    ///
    /// - Parameters:
    ///   - next: Returns the next deadline; `nil` if there is none.
    ///   - passed: Handles the deadlines until the given time.
    func run(next: () -> Duration?, passed: (_ now: Duration) async -> Void) async {
        await withTaskCancellationHandler {
            while !Task.isCancelled {
                guard let deadline = next() else {
                    await wakeup.wait()
                    continue
                }
                let now = stopwatch.elapsed()
                if deadline <= now {
                    await passed(now)
                } else {
                    await wakeup.wait(atMost: deadline - now, by: stopwatch)
                }
            }
        } onCancel: {
            wakeup.wake()
        }
    }
}
