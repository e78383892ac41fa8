internal import CPeripheralGLib
internal import Glibc
internal import Synchronization

/// A GLib main context on a separate thread, and an executor for Swift actors and tasks.
///
/// All code that uses a C handle (the bus, sockets, timers) runs here. C callbacks therefore enter Swift
/// without a lock and without a change of thread. The thread starts with the loop and runs until ``stop()``.
///
/// `@unchecked Sendable`: the shared state is in the mutexes `state` and `joinable` and in the atomic
/// `thread`. `context` is a constant that GLib allows to be used from any thread. The sources of the context,
/// and `sources`, are used on the loop only.
@safe
package final class EventLoop: @unchecked Sendable {
    private struct State: ~Copyable {
        var pending: [Work] = []
        /// True while the thread may block in `poll`.
        ///
        /// Only then must new work wake it.
        var mayBeAsleep = false
        var phase = Phase.running
        /// The callers of `stop()` that wait for the end of the thread.
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Returns whether the loop must be woken, which is true for one caller per sleep.
        mutating func takeWakeUp() -> Bool {
            defer { mayBeAsleep = false }
            return mayBeAsleep
        }
    }

    private enum Phase {
        case running
        case stopping
        case stopped
        /// The loop has stopped, and a temporary thread runs the jobs that arrived after the stop.
        case runningLateWork
    }

    enum Work {
        /// A job that must run on this loop.
        ///
        /// An actor or a task has specified this loop as the executor of the job.
        case job(UnownedJob)
        #if compiler(>=6.3)
            /// A job for which no executor is specified.
            ///
            /// Only a loop that runs all tasks of the process receives jobs without an executor.
            case jobOfProcess(UnownedJob)
            /// A job of the main actor.
            ///
            /// Only a loop that runs all tasks of the process receives jobs of the main actor.
            case jobOfMainActor(UnownedJob)
        #endif
        case closure(@Sendable () -> Void)
    }

    nonisolated(unsafe) let context: OpaquePointer
    /// The active timers and watches, or `nil` after the loop has stopped serving them.
    var sources: [ObjectIdentifier: LoopSource]? = [:]
    private let state = Mutex(State())
    /// The thread that `stop()` joins, or `nil` for the loop of the process, which does not stop.
    private let joinable = Mutex<JoinableThread?>(nil)
    private let isOfProcess: Bool
    /// The identity of the thread that runs the loop, or 0.
    private let thread = Atomic<UInt>(0)

    /// Starts a loop on a separate thread.
    ///
    /// - Parameter name: The name of the thread, which debuggers show.
    package init(name: String = "event-loop") {
        unsafe context = g_main_context_new()
        isOfProcess = false
        let thread = startThread(name: name) { $0.run() }
        joinable.withLock { $0 = thread }
    }

    /// Creates a loop that an existing thread runs with ``run()``.
    init(ofProcess: Void) {
        unsafe context = g_main_context_new()
        isOfProcess = true
    }

    deinit {
        unsafe g_main_context_unref(context)
    }

    /// Whether the caller runs on the loop's thread.
    package var inLoop: Bool {
        thread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Whether work is queued.
    var hasPendingWork: Bool {
        state.withLock { !$0.pending.isEmpty }
    }

    /// Runs `work` on the loop, after the work that is already queued.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    /// Ends the loop's thread and returns when it has ended.
    ///
    /// Queued work still runs. Active timers and watches are dropped. Work that arrives later, such as the
    /// last steps of a task, runs on a temporary thread. For the loop of the process, this method has no
    /// effect.
    package func stop() async {
        guard !isOfProcess else { return }
        await withCheckedContinuation { continuation in
            let (wakes, isStopped) = state.withLock { state in
                guard state.phase == .running || state.phase == .stopping else { return (false, true) }
                state.phase = .stopping
                state.waiters.append(continuation)
                return (state.takeWakeUp(), false)
            }
            if wakes { wake() }
            if isStopped { continuation.resume() }
        }
        joinable.withLock { $0.take() }?.join()
    }

    func submit(_ work: Work) {
        let isLoop = inLoop
        let (wakes, startsLateThread) = state.withLock { state in
            state.pending.append(work)
            if state.phase == .stopped {
                state.phase = .runningLateWork
                return (false, true)
            }
            return (!isLoop && state.takeWakeUp(), false)
        }
        if wakes { wake() }
        if startsLateThread { startLateThread() }
    }

    private func wake() {
        unsafe g_main_context_wakeup(context)
    }
}

// MARK: - The thread

extension EventLoop {
    /// The loop, which a new thread keeps alive, and the work of that thread.
    private final class ThreadStart {
        let loop: EventLoop
        let body: (EventLoop) -> Void

        init(loop: EventLoop, body: @escaping (EventLoop) -> Void) {
            self.loop = loop
            self.body = body
        }
    }

    private func startLateThread() {
        startThread(name: "event-loop-late") { $0.runLateWork() }.detach()
    }

    private func startThread(name: String, body: @escaping (EventLoop) -> Void) -> JoinableThread {
        let start = unsafe Unmanaged.passRetained(ThreadStart(loop: self, body: body)).toOpaque()
        let thread = unsafe g_thread_new(
            name,
            { start in
                guard let start = unsafe start else { return nil }
                let given = unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue()
                given.body(given.loop)
                return nil
            },
            start
        )
        return unsafe JoinableThread(thread: thread)
    }

    func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        unsafe g_main_context_acquire(context)
        var poll = PollSet()
        var batch: [Work] = []
        while runPendingWork(&batch) {
            iterate(&poll)
        }
        dropSources()
        unsafe g_main_context_release(context)
        leave()
    }

    /// Runs the queued work.
    ///
    /// The number of rounds is limited. Work that queues more work cannot starve the file descriptors. The
    /// batch is empty before and after the call. It is passed in to reuse its storage.
    ///
    /// - Returns: Whether the loop continues.
    private func runPendingWork(_ batch: inout [Work]) -> Bool {
        let rounds = 8
        for _ in 0..<rounds {
            let goesOn = state.withLock { state in
                swap(&batch, &state.pending)
                return state.phase == .running || !batch.isEmpty
            }
            if batch.isEmpty { return goesOn }
            for work in batch { perform(work) }
            batch.removeAll(keepingCapacity: true)
        }
        return true
    }

    /// Runs one round of the main context: waits for its sources, then serves the ready ones.
    ///
    /// These are the parts of `g_main_context_iteration`. With them, the loop knows when it actually sleeps.
    /// Only then does work from another thread cost a wake-up, which is one system call on each side.
    private func iterate(_ poll: inout PollSet) {
        var priority: gint = 0
        let isReady = unsafe g_main_context_prepare(context, &priority) != 0
        var timeout: gint = 0
        unsafe poll.query(context, priority: priority, timeout: &timeout)
        if isReady { timeout = 0 }
        if timeout != 0 {
            let sleeps = state.withLock { state in
                state.mayBeAsleep = state.pending.isEmpty && state.phase == .running
                return state.mayBeAsleep
            }
            if !sleeps { timeout = 0 }
        }
        poll.wait(timeout: timeout)
        if timeout != 0 { state.withLock { $0.mayBeAsleep = false } }
        if unsafe poll.check(context, priority: priority) {
            unsafe g_main_context_dispatch(context)
        }
    }

    /// Cancels all sources.
    ///
    /// Each would otherwise keep the loop and the objects that its handler retains alive forever.
    private func dropSources() {
        let standing = sources.take()
        for source in standing?.values ?? [:].values { source.cancel() }
    }

    /// Ends the work of this thread.
    ///
    /// From here on, late work may arrive, and `stop()` returns.
    private func leave() {
        thread.store(0, ordering: .relaxed)
        let (waiters, hasLateWork) = state.withLock { state in
            let waiters = state.waiters
            state.waiters = []
            state.phase = state.pending.isEmpty ? .stopped : .runningLateWork
            return (waiters, !state.pending.isEmpty)
        }
        if hasLateWork { startLateThread() }
        for waiter in waiters { waiter.resume() }
    }

    private func runLateWork() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        var batch: [Work] = []
        while runPendingWork(&batch) {}
        leave()
    }
}

/// A thread that must be joined or detached.
@safe
private struct JoinableThread: @unchecked Sendable {
    // A constant. GLib allows a thread to be joined from any thread.
    let thread: UnsafeMutablePointer<GThread>?

    func join() {
        _ = unsafe g_thread_join(thread)
    }

    func detach() {
        unsafe g_thread_unref(thread)
    }
}

/// The file descriptors that a main context polls, in a buffer that is reused between rounds.
@safe
private struct PollSet: ~Copyable {
    private var entries: UnsafeMutableBufferPointer<GPollFD>
    private var count: gint = 0

    init() {
        unsafe entries = .allocate(capacity: 16)
    }

    deinit {
        unsafe entries.deallocate()
    }

    mutating func query(_ context: OpaquePointer, priority: gint, timeout: inout gint) {
        while true {
            unsafe count = g_main_context_query(
                context,
                priority,
                &timeout,
                entries.baseAddress,
                gint(entries.count)
            )
            guard unsafe Int(count) > entries.count else { return }
            unsafe entries.deallocate()
            unsafe entries = .allocate(capacity: Int(count) * 2)
        }
    }

    func wait(timeout: gint) {
        _ = unsafe g_poll(entries.baseAddress, guint(count), timeout)
    }

    func check(_ context: OpaquePointer, priority: gint) -> Bool {
        unsafe g_main_context_check(context, priority, entries.baseAddress, count) != 0
    }
}
