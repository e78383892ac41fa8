internal import CPeripheralGLib
internal import Glibc
internal import Synchronization

#if compiler(>=6.3)
    @_spi(ExperimentalCustomExecutors) internal import _Concurrency
#endif

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

// MARK: - The process

extension EventLoop {
    static let processLoop = EventLoop(ofProcess: ())
    private static let runsProcess = Atomic(false)

    /// The loop that runs the whole process, or `nil` if there is none.
    package static var ofProcess: EventLoop? {
        runsProcess.load(ordering: .acquiring) ? processLoop : nil
    }

    /// Returns the loop of the process, or a new one with its own thread.
    package static func make(name: String) -> EventLoop {
        ofProcess ?? EventLoop(name: name)
    }

    /// Runs all tasks of the process on the calling thread and exits when `program` returns.
    ///
    /// Before Swift 6.3, only the main actor runs there. Other tasks stay on the runtime's threads. From then
    /// on, ``make(name:)`` returns this loop. Call it once, on the main thread, before any task exists.
    package static func runProcess(_ program: @escaping @Sendable () async -> CInt) -> Never {
        precondition(
            !runsProcess.exchange(true, ordering: .acquiringAndReleasing),
            "call this only once in a process"
        )
        #if compiler(>=6.3)
            _createExecutors(factory: ProcessExecutors.self)
        #else
            processLoop.execute { processLoop.serveMainActor() }
        #endif
        Task.detached { exit(await program()) }
        processLoop.run()
        fatalError("the event loop of the process has ended")
    }
}

#if compiler(<6.3)
    extension EventLoop {
        /// Runs the jobs of the main actor.
        ///
        /// They do not run elsewhere while the main thread runs a loop.
        private func serveMainActor() {
            let descriptor = _dispatch_get_main_queue_handle_4CF()
            _ = watch(fileDescriptor: descriptor, events: .readable) { _ in
                // Read first, so that jobs that arrive during the callback are signaled again.
                var count: UInt64 = 0
                unsafe read(descriptor, &count, MemoryLayout.size(ofValue: count))
                _dispatch_main_queue_callback_4CF(nil)
            }
        }
    }
#endif
