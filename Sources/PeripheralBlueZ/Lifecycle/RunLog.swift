internal import Logging
internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// The log of a run, which logs each topic once.
///
/// A topic is logged once, even if the peripheral is published several times. This log does not limit how
/// often a forgotten topic is logged again. A `LogLimit` limits the lines of this log, like all lines of a
/// run.
final class RunLog: Sendable {
    enum Topic: Equatable {
        case declaration(DeclarationIssue)
        case refusedAgent
        case disputedPairability
        case differentPairingMethods
        case foreignDevice(adapter: String)
        case alias
        case unknownLinkSecurity
        case withheldValues(of: AttributeHandle)
        case changedError(ATTError)
        case refusedDisconnection
        case unconfirmedRemoval
        case unreservedHandles
        case refusedServices(group: Int)
        /// Settings of bluetoothd, by the codes of their issues.
        case settings([String])
    }

    private let logger: Logger
    private let reported = Mutex<[Topic]>([])

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// Logs a message unless its topic was logged before.
    func report(
        _ topic: Topic,
        _ level: Logger.Level,
        _ message: @autoclosure () -> Logger.Message,
        metadata: @autoclosure () -> Logger.Metadata? = nil
    ) {
        let isNew = reported.withLock { reported in
            guard !reported.contains(topic) else { return false }
            reported.append(topic)
            return true
        }
        guard isNew else { return }
        logger.log(level: level, message(), metadata: metadata())
    }

    /// Records that a topic no longer applies, so the topic is logged again when it applies again.
    func forget(_ topic: Topic) {
        reported.withLock { reported in reported.removeAll { $0 == topic } }
    }
}
