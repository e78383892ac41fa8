internal import Logging
internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The log of a run, which is told each thing once, however often the peripheral comes back.
///
/// It does not bound how often a thing that is forgotten is told again: as all lines of a run, these pass a ``LogLimit``.
final class RunLog: Sendable {
    enum Topic: Equatable {
        case declaration(DeclarationIssue)
        case refusedAgent
        case unknownLinkSecurity
        case withheldValues(of: AttributeHandle)
        case changedError(ATTError)
    }

    private let logger: Logger
    private let told = Mutex<[Topic]>([])

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// Tells something, unless it was told before.
    func tell(
        _ topic: Topic,
        _ level: Logger.Level,
        _ message: @autoclosure () -> Logger.Message,
        metadata: @autoclosure () -> Logger.Metadata? = nil
    ) {
        let isNew = told.withLock { told in
            guard !told.contains(topic) else { return false }
            told.append(topic)
            return true
        }
        guard isNew else { return }
        logger.log(level: level, message(), metadata: metadata())
    }

    /// Takes note that something is not the case any more: when it is again, that is news.
    func forget(_ topic: Topic) {
        told.withLock { told in told.removeAll { $0 == topic } }
    }
}
