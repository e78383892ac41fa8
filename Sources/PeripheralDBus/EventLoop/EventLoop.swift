internal import CPeripheralGLib
internal import Glibc
internal import Synchronization

/// A GLib main context on a thread of its own, which Swift actors and tasks can use as their executor.
///
/// Everything that touches a C handle (the bus, sockets, timers) runs here, so C callbacks enter Swift without a
/// lock and without a change of thread. The thread starts with the loop and lives until ``stop()``.
///
/// `@unchecked Sendable`: the shared state is in `state` and `joinable`, which are mutexes, and in `thread`, an atomic.
/// `context` is a constant; GLib allows its use from any thread, and the code here still touches its sources on the
/// loop only. So it does with `sources`.
@safe
package final class EventLoop: @unchecked Sendable {
    private struct State: ~Copyable {
        var pending: [Work] = []
        /// True while the thread may block in `poll`: only then does new work have to wake it.
        var mayBeAsleep = false
        var phase = Phase.running
        /// Callers of `stop()` that wait for the thread's end.
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Whether the loop has to be woken; the answer is true for one caller per sleep.
        mutating func takeWakeUp() -> Bool {
            defer { mayBeAsleep = false }
            return mayBeAsleep
        }
    }

    private enum Phase {
        case running
        case stopping
        case stopped
        /// Stopped, and a passing thread runs work that arrived late.
        case runningLateWork
    }

    enum Work {
        /// A job of an actor or a task that has this loop as its executor.
        case job(UnownedJob)
        #if compiler(>=6.3)
            /// A job of no particular executor, and one of the main actor, where all of the process runs on one loop.
            case jobOfProcess(UnownedJob)
            case jobOfMainActor(UnownedJob)
        #endif
        case closure(@Sendable () -> Void)
    }

    nonisolated(unsafe) let context: OpaquePointer
    /// The timers and watches that stand; `nil` once none is served any more.
    var sources: [ObjectIdentifier: LoopSource]? = [:]
    private let state = Mutex(State())
    /// The thread that `stop()` joins; none, and nothing to stop, where the process runs on the loop.
    private let joinable = Mutex<JoinableThread?>(nil)
    private let isOfProcess: Bool
    /// The identity of the thread that runs the loop, 0 when none does.
    private let thread = Atomic<UInt>(0)

    /// Starts a loop on a thread of its own.
    ///
    /// - Parameter name: The thread's name, as debuggers show it.
    package init(name: String = "event-loop") {
        unsafe context = g_main_context_new()
        isOfProcess = false
        let thread = startThread(name: name) { $0.run() }
        joinable.withLock { $0 = thread }
    }

    /// Makes a loop on which a thread that is there already will ``run()``.
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

    /// Whether work waits for its turn.
    var hasPendingWork: Bool {
        state.withLock { !$0.pending.isEmpty }
    }

    /// Runs `work` on the loop, after what is queued already.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    /// Ends the loop's thread and returns when it has ended.
    ///
    /// Work that is queued already is run; timers and watches that still stand are dropped. Work that
    /// arrives later, such as the last steps of a task, still runs, on a passing thread. The loop of the process goes on.
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
    /// What a new thread is given: the loop, kept alive, and its part in it.
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

    /// Runs what is queued, bounded so that work which queues more work cannot starve the file descriptors.
    ///
    /// The batch is empty before and after; it is passed in to keep its storage.
    ///
    /// - Returns: Whether the loop goes on.
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

    /// One round of the main context: wait for its sources, then serve those that are ready.
    ///
    /// This is `g_main_context_iteration` in its parts, so that the loop knows when it really sleeps: work from
    /// another thread costs a wake-up (a system call here and one there) only then.
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

    /// Each would keep the loop, and all that its handler keeps, for ever.
    private func dropSources() {
        let standing = sources.take()
        for source in standing?.values ?? [:].values { source.cancel() }
    }

    /// Ends this thread's part: late work may come from here on, and `stop()` returns.
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

/// A thread that somebody has to join or detach.
@safe
private struct JoinableThread: @unchecked Sendable {
    // A constant, and GLib's threads may be joined from anywhere.
    let thread: UnsafeMutablePointer<GThread>?

    func join() {
        _ = unsafe g_thread_join(thread)
    }

    func detach() {
        unsafe g_thread_unref(thread)
    }
}

/// The file descriptors that a main context polls, in a buffer kept from round to round.
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
