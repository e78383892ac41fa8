#if compiler(>=6.3)
    @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

    /// The executors that run all tasks of a process on its event loop.
    ///
    /// The runtime requests them once. This interface is not yet stable in Swift 6.3, so newer compilers may
    /// require changes to this file.
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

        /// Does nothing: the process ends with its program.
        func stop() {}

        func checkIsolated() {
            loop.checkIsolated()
        }
    }

    /// The executor of tasks without a specific executor.
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
        /// Runs work at a clock's instant.
        fileprivate func submit<C: Clock>(_ work: Work, at instant: C.Instant, on clock: C) {
            execute { [self] in wait(until: instant, on: clock, for: work) }
        }

        private func wait<C: Clock>(until instant: C.Instant, on clock: C, for work: Work) {
            let remaining = clock.now.duration(to: instant)
            guard remaining > .zero else { return submit(work) }
            // A timer has a maximum duration and does not count the time in which the machine was suspended,
            // so the rest is waited for. A clock of an unknown kind is polled.
            let wait = min(remaining as? Duration ?? .milliseconds(10), .seconds(86_400))
            _ = schedule(after: wait) { [self] in
                self.wait(until: instant, on: clock, for: work)
            }
        }
    }
#endif
