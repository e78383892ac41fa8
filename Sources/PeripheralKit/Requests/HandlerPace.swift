private import Synchronization

/// Decides whether a handler runs on the thread that delivers the request or on another thread.
///
/// To pass a request to another thread and its answer back costs more time than most handlers take. But a
/// handler can also block its thread and delay other requests. Therefore, each handler first runs on another
/// thread. After several quick calls, the handler runs on the delivering thread. If the handler then holds
/// that thread for long, it runs on another thread until several calls have been quick again. The requests
/// that arrive during the long call still have to wait.
///
/// A handler on the delivering thread is still a separate task. At the first suspension of the handler, the
/// thread continues with other work. The handler resumes on another thread.
final class HandlerPace: Sendable {
    private let account = Mutex(PaceAccount())
    /// A copy of the account's result, which is read without the lock.
    private let quick = Atomic(false)

    /// Whether the handler is expected to be quick the next time.
    var isQuick: Bool { quick.load(ordering: .relaxed) }

    /// Records how long a call has held its thread, as far as this time is known.
    func note(_ duration: Duration) {
        // A handler without debt that stays within the allowance still has no debt.
        guard !isQuick || duration > PaceAccount.allowance else { return }
        account.withLock { account in
            account.note(duration)
            quick.store(account.isQuick, ordering: .relaxed)
        }
    }
}

/// The time that a handler has used, compared with the ``allowance`` for each request.
struct PaceAccount {
    /// The time that a call can take on average.
    ///
    /// The allowance is several times the cost of a change of threads, and a fraction of the time that a
    /// central needs for a request.
    static let allowance = Duration.microseconds(250)

    /// The initial debt, which a few quick calls reduce to zero.
    private var debt = allowance * 4

    /// Whether the handler is expected to be quick the next time.
    var isQuick: Bool { debt == .zero }

    /// Records how long a call has held its thread.
    mutating func note(_ duration: Duration) {
        debt = max(.zero, debt + duration - Self.allowance)
    }
}
