internal import Glibc
internal import Synchronization

/// A receiver of signals that arrive at the process.
///
/// Several receivers can receive the same signal. While a signal has receivers, it has no other effect. After
/// its last receiver has ended, the signal has the same effect as before.
package final class ProcessSignalReceiver: Sendable {
    private static let registry = Mutex(Registry())

    private let loop: EventLoop
    private let continuation: AsyncStream<CInt>.Continuation
    private let watch = Mutex<LoopSource?>(nil)

    /// Begins to receive signals.
    ///
    /// - Parameters:
    ///   - signals: The numbers of the signals.
    ///   - loop: The loop that reports the signals.
    ///   - policy: The buffer for signals that the program has not read yet.
    ///   - endsWithStream: Whether the receiver ends when the program no longer reads the stream.
    /// - Returns: The signals in the order of their arrival, and their receiver.
    /// - Throws: If the program cannot receive one of the signals, the handling of no signal changes.
    package static func receive(
        _ signals: [CInt],
        on loop: EventLoop,
        bufferingPolicy policy: AsyncStream<CInt>.Continuation.BufferingPolicy,
        endsWithStream: Bool = false
    ) throws(ProcessSignalsUnavailable) -> (arrivals: AsyncStream<CInt>, receiver: ProcessSignalReceiver) {
        let (arrivals, continuation) = AsyncStream.makeStream(of: CInt.self, bufferingPolicy: policy)
        let receiver = ProcessSignalReceiver(continuation, on: loop)
        let descriptor = try ProcessSignalHandler.open()
        // A signal that arrived before does not concern this receiver.
        deliver(from: descriptor)
        try registry.withLock { (registry) throws(ProcessSignalsUnavailable) in
            try registry.add(ObjectIdentifier(receiver), of: signals, continuation)
        }
        if endsWithStream { continuation.onTermination = { _ in receiver.end() } }
        receiver.start(signals, descriptor)
        return (arrivals, receiver)
    }

    private init(_ continuation: AsyncStream<CInt>.Continuation, on loop: EventLoop) {
        self.loop = loop
        self.continuation = continuation
    }

    private func start(_ signals: [CInt], _ descriptor: CInt) {
        loop.execute { [self] in
            // Other threads can have these signals blocked: those of Swift's pool, and all threads of a
            // process that was started with a blocked signal. One thread must accept them.
            unblock(signals)
            let source = loop.watch(fileDescriptor: descriptor, events: .readable) { _ in
                Self.deliver(from: descriptor)
            }
            watch.withLock { $0 = source }
        }
    }

    /// Passes the signals that have arrived to their receivers.
    private static func deliver(from descriptor: CInt) {
        // Outside the lock, because a task that is cancelled now would wait for the lock in `end()`, and
        // `yield` for the task.
        for (signal, receiver) in registry.withLock({ $0.arrivals(from: descriptor) }) {
            receiver.yield(signal)
        }
    }

    /// Ends the stream and restores the handling of signals that have no other receiver.
    ///
    /// A second call has no effect.
    package func end() {
        Self.registry.withLock { $0.remove(ObjectIdentifier(self)) }
        continuation.finish()
        loop.execute { [self] in watch.withLock { $0.take() }?.cancel() }
    }
}

private func unblock(_ signals: [CInt]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
}

/// The receivers of the process, and the previous handling of their signals.
private struct Registry {
    private struct Receiver {
        let id: ObjectIdentifier
        let signals: [CInt]
        let continuation: AsyncStream<CInt>.Continuation
    }

    // There are few receivers and signals, and an array needs less code than a dictionary.
    private var receivers: [Receiver] = []
    private var previous: [(signal: CInt, handling: sigaction)] = []

    mutating func add(
        _ receiver: ObjectIdentifier,
        of signals: [CInt],
        _ continuation: AsyncStream<CInt>.Continuation
    ) throws(ProcessSignalsUnavailable) {
        do throws(ProcessSignalsUnavailable) {
            for signal in signals where !previous.contains(where: { $0.signal == signal }) {
                previous.append((signal, try ProcessSignalHandler.install(for: signal)))
            }
        } catch {
            restoreUnused()
            throw error
        }
        receivers.append(Receiver(id: receiver, signals: signals, continuation: continuation))
    }

    mutating func remove(_ receiver: ObjectIdentifier) {
        receivers.removeAll { $0.id == receiver }
        restoreUnused()
    }

    /// Returns the signals that have arrived, each with a receiver.
    func arrivals(from descriptor: CInt) -> [(signal: CInt, receiver: AsyncStream<CInt>.Continuation)] {
        ProcessSignalHandler.read(from: descriptor).flatMap { signal in
            receivers.filter { $0.signals.contains(signal) }.map { (signal, $0.continuation) }
        }
    }

    private mutating func restoreUnused() {
        let all = previous
        previous = []
        for entry in all {
            if receivers.contains(where: { $0.signals.contains(entry.signal) }) {
                previous.append(entry)
            } else {
                ProcessSignalHandler.restore(entry.handling, for: entry.signal)
            }
        }
    }
}
