private import Synchronization

/// A process that runs a ``CrashTestPeripheral``.
public protocol KillableProgram: Sendable {
    /// The output of the process, line by line, until the process ends.
    var lines: AsyncStream<String> { get }

    /// Writes a line to the standard input of the process if the process still runs.
    func order(_ line: String)

    /// Kills the process immediately, like `kill -9`, and returns when the process has ended.
    ///
    /// Further calls of ``kill()`` have no effect.
    func kill()
}

/// One run of the program, with its output so far and the time of the kill.
final class RunningProgram: Sendable {
    /// The output of the program.
    struct Said {
        var restored: CrashTestState?
        var isReady = false
        var listenings = 0
        var witnessings = 0
        var departures = 0
        var subscriptions = 0
        var unsubscriptions = 0
        var kept: Set<UInt32> = []
        var problems: [String] = []
    }

    /// An error for a program that ended before the awaited output.
    struct EndError: Error {}

    private struct Waiter {
        var isOver: @Sendable (Said) -> Bool
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var said = Said()
        var isOver = false
        var killTime: ContinuousClock.Instant?
        var waiters: [Waiter] = []
    }

    private let program: any KillableProgram
    private let state = Mutex(State())

    init(of program: any KillableProgram) {
        self.program = program
    }

    var said: Said { state.withLock { $0.said } }

    /// The time at which the program was killed; `nil` while it runs.
    var killTime: ContinuousClock.Instant? { state.withLock { $0.killTime } }

    func order(_ number: UInt32) {
        program.order("\(number)")
    }

    func kill() {
        state.withLock { $0.killTime = $0.killTime ?? .now }
        program.kill()
    }

    /// Reads the output until the program ends.
    func listen() async {
        for await line in program.lines {
            if let line = CrashTestLine(line) { note(line) }
        }
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(throwing: EndError()) }
    }

    private func note(_ line: CrashTestLine) {
        let served = state.withLock { state in
            switch line {
            case .restored(let restored): state.said.restored = restored
            case .ready: state.said.isReady = true
            case .listening: state.said.listenings += 1
            case .witnessing: state.said.witnessings += 1
            case .left: state.said.departures += 1
            case .subscribed: state.said.subscriptions += 1
            case .unsubscribed: state.said.unsubscriptions += 1
            case .kept(let number): state.said.kept.insert(number)
            case .problem(let text): state.said.problems.append(text)
            }
            let said = state.said
            defer { state.waiters.removeAll { $0.isOver(said) } }
            return state.waiters.filter { $0.isOver(said) }
        }
        for waiter in served { waiter.continuation.resume() }
    }

    /// Waits until the output meets the condition.
    ///
    /// - Throws: ``EndError``.
    func wait(until isOver: @escaping @Sendable (Said) -> Bool) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let outcome: Result<Void, any Error>? = state.withLock { state in
                if isOver(state.said) { return .success(()) }
                if state.isOver { return .failure(EndError()) }
                state.waiters.append(Waiter(isOver: isOver, continuation: continuation))
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}
