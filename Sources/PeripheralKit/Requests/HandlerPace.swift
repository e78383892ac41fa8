private import Synchronization

/// Decides where a handler runs: on the thread that delivers the request, or on another one.
///
/// Passing a request to another thread and its answer back costs more than most handlers take. But a handler
/// can also block, and delay other requests. Each handler therefore starts on another thread. Once it has
/// been quick, it runs on the delivering thread. If it then holds that thread for long, it runs on another
/// thread until it has been quick for long enough. Requests that wait meanwhile cannot be helped.
///
/// A handler on the delivering thread is still a separate task. At its first suspension the thread continues,
/// and the handler resumes elsewhere.
final class HandlerPace: Sendable {
    private let account = Mutex(PaceAccount())
    /// A copy of the account's result that is read without the lock.
    private let quick = Atomic(false)

    /// Whether the handler is expected to be quick the next time.
    var isQuick: Bool { quick.load(ordering: .relaxed) }

    /// Records how long a run has held its thread, as far as this is known.
    func note(_ duration: Duration) {
        // A handler without debt that stays within the allowance still has no debt.
        guard !isQuick || duration > PaceAccount.allowance else { return }
        account.withLock { account in
            account.note(duration)
            quick.store(account.isQuick, ordering: .relaxed)
        }
    }
}

/// The time that a handler has used: on average, ``allowance`` is allowed for each request.
struct PaceAccount {
    /// The time that a run can take on average.
    ///
    /// It is several times the cost of changing threads, and a fraction of the time that a central needs for
    /// a request.
    static let allowance = Duration.microseconds(250)

    /// The initial debt, which takes a few quick runs to pay off.
    private var debt = allowance * 4

    /// Whether the handler is expected to be quick the next time.
    var isQuick: Bool { debt == .zero }

    /// Records how long a run has held its thread.
    mutating func note(_ duration: Duration) {
        debt = max(.zero, debt + duration - Self.allowance)
    }
}
