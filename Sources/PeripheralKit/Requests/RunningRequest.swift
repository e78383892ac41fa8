internal import PeripheralCore
private import Synchronization

/// A request whose handler runs, and the outcome of the request.
///
/// Only the first outcome counts.
final class RunningRequest: Sendable {
    private enum Progress: UInt8, AtomicRepresentable {
        case waiting
        /// The framework answered the request because the handler was late. The handler of an answered
        /// request might still be running.
        case answeredFor
        case over
    }

    private struct Handling {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    /// The attribute, for the log.
    let name: String
    /// The handle of the attribute; `nil` for a question that concerns no attribute.
    let attribute: AttributeHandle?
    private let deliver: @Sendable (BackendAnswer.Outcome) -> Void
    private let progress = Atomic(Progress.waiting)
    private let handling = Mutex(Handling())

    init(
        name: String,
        of attribute: AttributeHandle? = nil,
        deliver: @escaping @Sendable (BackendAnswer.Outcome) -> Void
    ) {
        self.name = name
        self.attribute = attribute
        self.deliver = deliver
    }

    /// Delivers the handler's outcome and returns whether it was the first outcome.
    func answer(_ outcome: BackendAnswer.Outcome) -> Bool {
        let isFirst = progress.exchange(.over, ordering: .acquiringAndReleasing) == .waiting
        if isFirst { deliver(outcome) }
        return isFirst
    }

    /// Answers the request of a late handler, and returns whether the request was unanswered.
    func answerForHandler() -> Bool {
        let isFirst = progress.compareExchange(
            expected: .waiting,
            desired: .answeredFor,
            ordering: .acquiringAndReleasing
        ).exchanged
        if isFirst { deliver(.failure(.unlikelyError)) }
        return isFirst
    }

    /// Stores the handler's task unless the task has ended, and returns whether the task still runs.
    func keep(_ task: Task<Void, Never>) -> Bool {
        guard progress.load(ordering: .acquiring) != .over else { return false }
        let isCancelled = handling.withLock { handling in
            handling.task = task
            return handling.isCancelled
        }
        if isCancelled { task.cancel() }
        return true
    }

    /// Cancels the handler's task, even if the task is stored later.
    func cancel() {
        let task = handling.withLock { handling in
            handling.isCancelled = true
            return handling.task
        }
        task?.cancel()
    }
}
