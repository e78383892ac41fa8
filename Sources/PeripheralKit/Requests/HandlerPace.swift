private import Synchronization

/// Decides where a handler runs: at once on the thread that brings the request, or away from it.
///
/// To hand a request to another thread and its answer back costs more than most handlers take. But a handler may
/// also block, and hold up the requests of others. So each one begins away from the thread, and earns its place there by
/// being quick; when it then holds the thread for long, it is sent away until it has made up for that. Nothing can help
/// the requests that wait meanwhile.
///
/// A handler in place still is a task of its own: at its first suspension the thread goes on, and the handler continues
/// elsewhere.
final class HandlerPace: Sendable {
    private let account = Mutex(PaceAccount())
    /// What the account says, for those who only ask.
    private let quick = Atomic(false)

    /// Whether the handler may be expected to be quick the next time.
    var isQuick: Bool { quick.load(ordering: .relaxed) }

    /// Takes note of how long a run has held its thread, as far as that is known.
    func note(_ duration: Duration) {
        // Who owes nothing and has kept to the allowance goes on to owe nothing.
        guard !isQuick || duration > PaceAccount.allowance else { return }
        account.withLock { account in
            account.note(duration)
            quick.store(account.isQuick, ordering: .relaxed)
        }
    }
}

/// What a handler has taken of the time that it is allowed: on average no more than ``allowance`` for each request.
struct PaceAccount {
    /// Several times what it costs to hand a request to another thread, and a fraction of the time that a central needs
    /// for a request.
    static let allowance = Duration.microseconds(250)

    /// At first, a handler owes a few quick runs.
    private var debt = allowance * 4

    /// Whether the handler may be expected to be quick the next time.
    var isQuick: Bool { debt == .zero }

    /// Takes note of how long a run has taken, as far as its thread was held.
    mutating func note(_ duration: Duration) {
        debt = max(.zero, debt + duration - Self.allowance)
    }
}
