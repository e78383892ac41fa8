internal import CPeripheralGLib
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
    /// Before Swift 6.3, only the main actor does; other tasks stay on the runtime's own threads. Loops that are made from now
    /// on are this one. Call it once, on the main thread, before there is a task.
    package static func runProcess(_ program: @escaping @Sendable () async -> CInt) -> Never {
        precondition(
            !runsProcess.exchange(true, ordering: .acquiringAndReleasing),
            "the process has such a thread"
        )
        #if compiler(>=6.3)
            _createExecutors(factory: ProcessExecutors.self)
        #else
            processLoop.execute { processLoop.serveMainActor() }
        #endif
        Task.detached { exit(await program()) }
        processLoop.run()
        fatalError("nobody stops the loop of the process")
    }
}

#if compiler(<6.3)
    extension EventLoop {
        /// Runs the jobs of the main actor, which nobody else does where the main thread runs a loop.
        private func serveMainActor() {
            let descriptor = _dispatch_get_main_queue_handle_4CF()
            _ = watch(fileDescriptor: descriptor, events: .readable) { _ in
                // Read first: what comes while the jobs run is told of again.
                var count: UInt64 = 0
                unsafe read(descriptor, &count, MemoryLayout.size(ofValue: count))
                _dispatch_main_queue_callback_4CF(nil)
            }
        }
    }
#endif
