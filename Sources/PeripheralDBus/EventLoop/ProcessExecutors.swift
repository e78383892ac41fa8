#if compiler(>=6.3)
    @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

    /// The executors that run all tasks of a process on its event loop.
    ///
    /// The runtime requests them once. This interface is not yet stable in Swift 6.3, so newer compilers may
    /// require changes to this file.
    enum ProcessExecutors: ExecutorFactory {
        static let mainExecutor: any MainExecutor = ProcessMainExecutor(EventLoop.processLoop)
        static let defaultExecutor: any TaskExecutor = ProcessTaskExecutor(EventLoop.processLoop)

        /// Runs work on a loop at a clock's instant.
        fileprivate static func submit<C: Clock>(
            _ work: EventLoop.Work,
            to loop: EventLoop,
            at instant: C.Instant,
            on clock: C
        ) {
            loop.execute { wait(for: loop, until: instant, on: clock, then: work) }
        }

        private static func wait<C: Clock>(
            for loop: EventLoop,
            until instant: C.Instant,
            on clock: C,
            then work: EventLoop.Work
        ) {
            let remaining = clock.now.duration(to: instant)
            guard remaining > .zero else { return loop.submit(work) }
            // A timer has a maximum duration and does not count the time in which the machine was suspended,
            // so the rest is waited for. A clock of an unknown kind is polled.
            let wait = min(remaining as? Duration ?? .milliseconds(10), .seconds(86_400))
            _ = loop.schedule(after: wait) {
                self.wait(for: loop, until: instant, on: clock, then: work)
            }
        }
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
            ProcessExecutors.submit(.jobOfMainActor(UnownedJob(job)), to: loop, at: instant, on: clock)
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
            ProcessExecutors.submit(.jobOfProcess(UnownedJob(job)), to: loop, at: instant, on: clock)
        }
    }
#endif
