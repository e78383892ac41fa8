internal import Logging
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

    /// The progress of the handler until its first suspension.
    enum Stage: UInt8, AtomicRepresentable {
        case waitsForThread
        case holdsThread
        case hasSuspended
    }

    private struct Handling {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    /// The attribute, for the log.
    let name: String
    /// The handle of the attribute; `nil` for a question that concerns no attribute.
    let attribute: AttributeHandle?
    /// The operation, such as `read`, for the log.
    private let operation: StaticString
    /// The central that sent the request, for the log.
    private let central: Central.ID?
    private let deliver: @Sendable (BackendAnswer.Outcome) -> Void
    private let stage = Atomic(Stage.waitsForThread)
    private let progress = Atomic(Progress.waiting)
    private let handling = Mutex(Handling())

    init(
        name: String,
        operation: StaticString,
        of attribute: AttributeHandle? = nil,
        by central: Central.ID?,
        deliver: @escaping @Sendable (BackendAnswer.Outcome) -> Void
    ) {
        self.name = name
        self.operation = operation
        self.attribute = attribute
        self.central = central
        self.deliver = deliver
    }

    /// The attribute, the operation and the central.
    var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "peripheral.attribute": .bounded(name), "peripheral.operation": "\(operation)",
        ]
        if let central { metadata["peripheral.central"] = "\(central)" }
        return metadata
    }

    /// The likely reason why the handler has not answered yet.
    var reasonForDelay: Logger.MetadataValue {
        switch stage.load(ordering: .relaxed) {
        case .waitsForThread:
            "It has not begun, because other handlers block all threads. Use await instead of calls that block."
        case .holdsThread: "It blocks its thread. Use await instead of calls that block."
        case .hasSuspended:
            """
            It still awaits something. Answer with a value that is already known, and do slow work outside of the handler.
            """
        }
    }

    /// Records that the handler begins, or that it has suspended for the first time.
    func note(_ stage: Stage) {
        self.stage.store(stage, ordering: .relaxed)
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
