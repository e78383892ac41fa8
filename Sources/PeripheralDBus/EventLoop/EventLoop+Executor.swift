extension EventLoop: SerialExecutor, TaskExecutor {
    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Allows C callbacks to enter an actor of the loop with `assumeIsolated`.
    ///
    /// A C callback runs in no Swift task.
    package func isIsolatingCurrentContext() -> Bool? {
        inLoop
    }

    package func checkIsolated() {
        precondition(inLoop, "this must run on the event loop")
    }

    func perform(_ work: Work) {
        switch work {
        case .job(let job):
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        #if compiler(>=6.3)
            case .jobOfProcess(let job):
                unsafe job.runSynchronously(on: ProcessExecutors.defaultExecutor.asUnownedTaskExecutor())
            case .jobOfMainActor(let job):
                unsafe job.runSynchronously(on: MainActor.sharedUnownedExecutor)
        #endif
        case .closure(let body):
            body()
        }
    }
}
