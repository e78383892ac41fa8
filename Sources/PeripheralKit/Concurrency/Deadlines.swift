/// Watches for the next of several deadlines, which pass in the order in which they were set.
struct Deadlines: Sendable {
    private let stopwatch: Stopwatch
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    init(by stopwatch: Stopwatch) {
        self.stopwatch = stopwatch
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins to watch.
    ///
    /// A call is necessary when a deadline is set and there was no deadline before.
    func wake() {
        wakeUp.yield()
    }

    /// Watches until the calling task is cancelled.
    ///
    /// - Parameters:
    ///   - next: Returns the next deadline; `nil` if there is none.
    ///   - passed: Handles the deadlines until the given time.
    func run(next: () -> Duration?, passed: (_ now: Duration) -> Void) async {
        for await _ in wakeUps {
            while let deadline = next() {
                let wait = deadline - stopwatch.elapsed()
                if wait > .zero {
                    guard (try? await stopwatch.sleep(wait)) != nil else { return }
                }
                passed(stopwatch.elapsed())
            }
        }
    }
}
