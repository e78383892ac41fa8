internal import Glibc
internal import Synchronization

#if compiler(>=6.3)
    @_spi(ExperimentalCustomExecutors) internal import _Concurrency
#endif

extension EventLoop {
    static let processLoop = EventLoop(ofProcess: ())
    private static let runsProcess = Atomic(false)

    /// The loop on which all of the process runs; `nil` when it does not run on one.
    package static var ofProcess: EventLoop? {
        runsProcess.load(ordering: .acquiring) ? processLoop : nil
    }

    /// A loop with a thread of its own, or that of the process where all of it runs on one.
    package static func make(name: String) -> EventLoop {
        ofProcess ?? EventLoop(name: name)
    }

    /// Runs all tasks of the process on the calling thread, beginning with one that runs `program` and then ends the process.
    ///
    /// Before Swift 6.3, tasks stay on the runtime's own threads. Loops that are made from now on are this one. Call it once,
    /// before there is a task.
    package static func runProcess(_ program: @escaping @Sendable () async -> CInt) -> Never {
        precondition(
            !runsProcess.exchange(true, ordering: .acquiringAndReleasing),
            "the process has such a thread"
        )
        #if compiler(>=6.3)
            _createExecutors(factory: ProcessExecutors.self)
        #endif
        Task.detached { exit(await program()) }
        processLoop.run()
        fatalError("nobody stops the loop of the process")
    }
}
