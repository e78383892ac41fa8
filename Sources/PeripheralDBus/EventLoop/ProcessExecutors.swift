#if compiler(>=6.3)
    @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

    /// What runs the tasks of a process on its event loop in place of the runtime's own threads.
    ///
    /// The runtime asks for it once. That it can be asked is not stable yet in Swift 6.3: newer compilers may want this file
    /// changed.
    enum ProcessExecutors: ExecutorFactory {
        static let mainExecutor: any MainExecutor = ProcessMainExecutor(EventLoop.processLoop)
        static let defaultExecutor: any TaskExecutor = ProcessTaskExecutor(EventLoop.processLoop)
    }

    /// The executor of the main actor.
    private final class ProcessMainExecutor: MainExecutor, SchedulingExecutor {
        let loop: EventLoop

        init(_ loop: EventLoop) {
            self.loop = loop
        }

        func enqueue(_ job: consuming ExecutorJob) {
            loop.submit(.jobOfMainActor(UnownedJob(job)))
        }

        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob,
            at instant: C.Instant,
            tolerance: C.Duration?,
            clock: C
        ) {
            loop.submit(.jobOfMainActor(UnownedJob(job)), at: instant, on: clock)
        }

        func run() {
            loop.run()
        }

        /// The process ends with its program, not by this.
        func stop() {}

        func checkIsolated() {
            loop.checkIsolated()
        }
    }

    /// The executor of all that has none.
    private final class ProcessTaskExecutor: TaskExecutor, SchedulingExecutor {
        let loop: EventLoop

        init(_ loop: EventLoop) {
            self.loop = loop
        }

        func enqueue(_ job: consuming ExecutorJob) {
            loop.submit(.jobOfProcess(UnownedJob(job)))
        }

        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob,
            at instant: C.Instant,
            tolerance: C.Duration?,
            clock: C
        ) {
            loop.submit(.jobOfProcess(UnownedJob(job)), at: instant, on: clock)
        }
    }

    extension EventLoop {
        /// Runs work when a clock shows a time.
        fileprivate func submit<C: Clock>(_ work: Work, at instant: C.Instant, on clock: C) {
            execute { [self] in wait(until: instant, on: clock, for: work) }
        }

        private func wait<C: Clock>(until instant: C.Instant, on clock: C, for work: Work) {
            let remaining = clock.now.duration(to: instant)
            guard remaining > .zero else { return submit(work) }
            // A timer has its longest time, and does not know when the machine was suspended: then the rest is waited for. What
            // time is on a clock that the runtime does not have, nobody knows: it is asked again and again.
            let wait = min(remaining as? Duration ?? .milliseconds(10), .seconds(86_400))
            _ = schedule(after: wait) { [self] in
                self.wait(until: instant, on: clock, for: work)
            }
        }
    }
#endif
