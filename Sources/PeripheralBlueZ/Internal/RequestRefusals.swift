internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
private import Synchronization

/// Makes the answers that refuse requests, and tells the log which errors centrals do not see as they are.
final class RequestRefusals: Sendable {
    private struct State {
        var version = BlueZVersion.v5_66
        /// The errors of which the log was told: a central can ask as often as it likes.
        var told: Set<ATTError> = []
    }

    private let table: AttributeTable
    private let logger: Logger
    private let state = Mutex(State())

    init(of table: AttributeTable, logger: Logger) {
        self.table = table
        self.logger = logger
    }

    /// Takes note of the version of the running bluetoothd; until then, it is taken for the oldest.
    func setVersion(_ version: BlueZVersion) {
        state.withLock { $0.version = version }
    }

    /// The answer by which bluetoothd is told to refuse the central's request.
    func answer(
        to operation: RequestRefusal.Operation,
        of attribute: AttributeHandle,
        with error: ATTError
    ) -> MethodError {
        let (refusal, isNews) = state.withLock { state in
            let refusal = RequestRefusal(error, operation: operation, version: state.version)
            return (refusal, refusal.received != error && state.told.insert(error).inserted)
        }
        if isNews {
            logger.warning(
                "BlueZ cannot carry this error, and centrals see another. It is told once for each error.",
                metadata: [
                    "peripheral.attribute": "\(name(of: attribute))",
                    "peripheral.error": "\(error)",
                    "peripheral.received": "\(refusal.received)",
                ]
            )
        }
        return MethodError(refusal.name, refusal.message)
    }

    private func name(of handle: AttributeHandle) -> String {
        guard let attribute = table.index(of: handle).map({ table.attributes[$0] }),
            let characteristic = table.characteristic(of: attribute.kind)
        else { return "\(handle)" }
        guard case .descriptor = attribute.kind else { return "characteristic \(characteristic.uuid)" }
        return "descriptor \(attribute.type) of characteristic \(characteristic.uuid)"
    }
}
