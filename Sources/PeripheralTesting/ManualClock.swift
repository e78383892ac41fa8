private import Synchronization

/// A clock whose time changes only when a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// let sleep = Task { try await clock.sleep(for: .seconds(5)) }
/// await clock.waitForSleeper()
/// clock.advance(by: .seconds(5))
/// try await sleep.value
/// ```
public final class ManualClock: Clock, Sendable {
    /// An instant, measured from the creation of the clock.
    public struct Instant: InstantProtocol {
        private let offset: Duration

        fileprivate init(offset: Duration) {
            self.offset = offset
        }

        /// Returns the sum of this instant and a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the duration from this instant to another instant.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Compares two instants.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    private struct Sleeper {
        var id: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastID = 0
        var sleepers: [Sleeper] = []
        var observers: [Int: CheckedContinuation<Void, Never>] = [:]

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let state = Mutex(State())

    /// Creates a clock.
    public init() {}

    /// The current instant of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// The number of tasks that wait in ``sleep(until:tolerance:)``.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The smallest duration that the clock can measure.
    ///
    /// The value is zero, because the clock measures every duration exactly.
    public var minimumResolution: Duration { .zero }

    /// Waits until a test advances the clock to the deadline or beyond.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { $0.makeID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(Sleeper(id: id, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock, and resumes each task whose deadline has been reached.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            defer { state.sleepers.removeAll { $0.deadline <= state.now } }
            return state.sleepers.filter { $0.deadline <= state.now }
        }
        for sleeper in woken.sorted(by: { $0.deadline < $1.deadline }) {
            sleeper.continuation.resume()
        }
    }

    /// Returns as soon as at least one task is suspended in ``sleep(until:tolerance:)``.
    ///
    /// The method also returns when the calling task is cancelled.
    public func waitForSleeper() async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    // The cancellation handler may have run before the observer was added.
                    let waits = state.sleepers.isEmpty && !Task.isCancelled
                    if waits { state.observers[id] = continuation }
                    return waits
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.observers.removeValue(forKey: id) }?.resume()
        }
    }

    private func add(_ sleeper: Sleeper) {
        let (outcome, observers) = state.withLock {
            state -> (Result<Void, any Error>?, [Int: CheckedContinuation<Void, Never>]) in
            // The cancellation handler may have run before the sleeper was added.
            if Task.isCancelled { return (.failure(CancellationError()), [:]) }
            if sleeper.deadline <= state.now { return (.success(()), [:]) }
            state.sleepers.append(sleeper)
            defer { state.observers = [:] }
            return (nil, state.observers)
        }
        if let outcome { sleeper.continuation.resume(with: outcome) }
        for observer in observers.values { observer.resume() }
    }
}
